// Takes the README's picture of the page:
//
//     node crates/facedp-web/tests/page/picture.js docs/images/page.jpg

import fs from "node:fs";
import { browser as start, drop, end, example, open, serve } from "./support.js";

const [, , target] = process.argv;
const [browser, server] = await Promise.all([start(), serve()]);
const { page } = await open(browser, server.url, { viewport: { width: 1000, height: 1890 } });
await drop(page, [{ name: "collins.jpg", bytes: fs.readFileSync(example("collins.jpg")) }]);
await page.locator("[data-state=ready]").waitFor();
await page.locator("#go").click();
await page.locator("[data-state=done]").waitFor();
await page.getByRole("button", { name: "Face 1" }).click();
await page.mouse.move(0, 0);
await page.evaluate(() => {
  document.activeElement.blur();
  scrollTo(0, 0);
});
await page.waitForTimeout(300);
// Not of the whole page at once: Chromium loses what was scrolled inside of it.
await page.screenshot({ path: target, type: "jpeg", quality: 85 });
await browser.close();
await end(server);
