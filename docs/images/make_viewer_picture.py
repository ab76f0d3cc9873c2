"""Draw viewer.png: the PUMA 560 in the viewer, its motion half played. Needs the extra ``dev`` and Chromium."""

import io
import shutil
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import linkwise as lw

HERE = Path(__file__).parent
SWITCHES = "--headless=new --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking"


def main() -> None:
    """Open the viewer, play to the middle, and keep what the browser shows."""
    motion = HERE.parents[1] / "examples" / "data" / "puma560_reach.csv"
    with lw.robots.puma560().browse(motion, port=0) as viewer, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES.split())
        page = browser.new_page(viewport={"width": 1280, "height": 760})
        page.goto(viewer.url)
        page.get_by_role("slider").first.wait_for()
        page.get_by_role("tab", name="Motion").click()
        viewer._inbox.put("seek", 0.9)
        time.sleep(4.0)
        page.locator("button.mantine-Notification-closeButton").first.click()  # (that no graphics card draws it)
        viewer._inbox.put("seek", 0.9)
        time.sleep(4.0)
        shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    shot.quantize(128, dither=Image.Dither.NONE).save(HERE / "viewer.png", optimize=True)


if __name__ == "__main__":
    main()
