/** @file kinds.h
 *  Made by Linkwise. C99; nothing is allocated, nothing is kept between calls.
 */
#ifndef KINDS_H
#define KINDS_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief inverse_dynamics of kinds. tau (nv,): what the motors must supply, links, gravity, rotors and friction
 * counted. The order of q is that of the joints base1, upper_1, upper_2, slide_angle, slide_distance, cart_x,
 * cart_y, cart_angle.
 *
 * @param[in] q (19): joint coordinates, rad or m; elements hand_qw, hand_qx, hand_qy, hand_qz, box_x, box_y,
 *     box_z, box_qw, box_qx, box_qy, box_qz, q1, q2, q3, q4, q5, q6, q7, q8
 * @param[in] qd (17): joint speeds, rad/s or m/s; elements hand_wx, hand_wy, hand_wz, box_vx, box_vy, box_vz,
 *     box_wx, box_wy, box_wz, qd1, qd2, qd3, qd4, qd5, qd6, qd7, qd8
 * @param[in] qdd (17): joint accelerations, rad/s2 or m/s2; elements hand_wx_dot, hand_wy_dot, hand_wz_dot,
 *     box_vx_dot, box_vy_dot, box_vz_dot, box_wx_dot, box_wy_dot, box_wz_dot, qdd1, qdd2, qdd3, qdd4, qdd5,
 *     qdd6, qdd7, qdd8
 * @param[out] tau (17): joint efforts, N m or N; elements hand_mx, hand_my, hand_mz, box_fx, box_fy, box_fz,
 *     box_mx, box_my, box_mz, tau1, tau2, tau3, tau4, tau5, tau6, tau7, tau8
 *
 * Operations: 199 mul, 170 add, 2 div, 3 sin, 3 cos.
 */
void inverse_dynamics(const double q[19], const double qd[17], const double qdd[17], double tau[17]);

#ifdef __cplusplus
}
#endif

#endif /* KINDS_H */
