"""A program of SpaceLib's manual, ROBSCARA of section 7.4, line by line: its names and its order, in Python."""

from math import pi

from linkwise.spacelib import ORIGIN, Pri, Rev, U, Z, clearmat, idmat, makel2, mami, miam, printm, rotat34
from linkwise.spacelib.programs.robscara import robscara

q = [pi / 4, pi / 6, 0.5]
qp = [pi * 5 / 4, pi * 5 / 4, -0.5]

O = ORIGIN  # noqa: E741
O1 = [0, 0, 1.5, 1]
O2 = [0.33, 0.0, 0, 1]
O3 = [0.33, 0.0, 0, 1]
O4 = [0, 0, -0.5, 1]

m01 = rotat34(Z, 0, O1)
m12 = rotat34(Z, q[0], O2)
m23 = rotat34(Z, q[1], O3)
m34 = rotat34(Z, 0, O4)

m02 = m01 @ m12
m03 = m02 @ m23
m04 = m03 @ m34

m0a = idmat(4)
Oa = m04[:, U]
m0a[:, U] = Oa

L12r = makel2(Rev, Z, 0, O)
L23r = makel2(Rev, Z, 0, O)
L34r = makel2(Pri, Z, 0, O)

L12f = mami(L12r, m01)
L23f = mami(L23r, m02)
L34f = mami(L34r, m03)

W01 = clearmat(4, 4)
W12 = L12f * qp[0]
W23 = L23f * qp[1]
W34 = L34f * qp[2]
W04 = W01 + W12 + W23 + W34
W04a = miam(W04, m0a)

printm("The absolute position matrix of the gripper is: M04", m04)
printm('The position matrix of frame "a" referred to frame "0" is: M0a', m0a)
printm("The velocity matrix of the gripper in frame (0) is: W04", W04)
printm("The velocity matrix of the gripper in frame (a) is: W04a", W04a)

made = robscara(sense="as listed")  # the same as a function, in linkwise.spacelib.programs
print("the same:", all((a == b).all() for a, b in ((m04, made.m04), (W04, made.W04), (W04a, made.W04a))))
