"""Draw live_crane.png and live_crane_curves.png: the ship's crane in the live view. Needs the extra ``dev`` and Chromium."""

import io
import math
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from linkwise import control
from linkwise.server import add_user, new_user, run
from linkwise.view.live import LiveView

HERE = Path(__file__).parent
CRANE = HERE.parents[1] / "examples" / "data" / "ship_crane.toml"
SWITCHES = "--headless=new --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking"


def sail(chain: control.Chain, t: float) -> None:
    """Tell the crane how the deck heaves and rolls."""
    w, heave, roll = 0.9, 0.6, math.radians(2.0)
    chain["start.position"] = [0.0, 0.0, 6.0 + heave * math.sin(w * t)]
    chain["start.angles"] = [roll * math.sin(w * t), 0.0, 0.0]
    chain["start.velocity"] = [0.0, 0.0, heave * w * math.cos(w * t)]
    chain["start.angular_velocity"] = [roll * w * math.cos(w * t), 0.0, 0.0]


def keep(page: Any, path: Path) -> None:
    """Write what the browser shows."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Serve the crane, log in, drag its hook outwards until the telescope is at its end, and keep two pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    chain, ended = control.load(CRANE), threading.Event()
    with tempfile.TemporaryDirectory() as temporary:
        users = Path(temporary) / "users"
        add_user(users, new_user("anna", "correct horse"))
        with LiveView(chain, port=0, users=users) as view, sync_playwright() as driver:

            def before() -> None:
                view.take()
                sail(chain, float(chain["chain.time"]))  # type: ignore[arg-type]

            options: dict[str, Any] = {"before": before, "after": view.publish, "stop": ended.is_set}
            cycles = threading.Thread(target=lambda: run(chain, 0.01, **options))
            cycles.start()
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES.split())
            page = browser.new_page(viewport={"width": 1280, "height": 700})
            page.goto(view.address)
            fields = page.get_by_role("textbox")
            fields.nth(1).wait_for()
            fields.nth(0).fill("anna")
            fields.nth(1).fill("correct horse")
            page.get_by_role("button", name="Log in").click()
            page.get_by_text("drag a target to move it").wait_for()
            page.locator("button.mantine-Notification-closeButton").first.click()  # (that no graphics card draws it)
            time.sleep(10.0)
            page.get_by_role("tab", name="Curves").click()
            time.sleep(3.0)
            keep(page, folder / "live_crane_curves.png")
            page.get_by_role("tab", name="Chain").click()
            reach(page, chain)
            time.sleep(2.0)
            keep(page, folder / "live_crane.png")
            browser.close()
            ended.set()
            cycles.join()


def reach(page: Any, chain: control.Chain) -> None:
    """Move the goal as a drag does, until the telescope is at its limit."""
    x, y, z = chain["hold.position"]  # type: ignore[misc]
    for k in range(60):
        chain["hold.position"] = [x + 0.2 * k, y - 0.1 * k, z]
        time.sleep(0.1)
        if chain["telescope.limits.reached"] and chain["chain.unsolved"]:
            break


if __name__ == "__main__":
    main()
