// The page in a real browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { bearer, HANG, ROOT, browser as start, drop, end, example, open, run, serve, threePeople } from "./support.js";

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser, server, three, one;
before(async () => {
  [browser, server] = await Promise.all([start(), serve()]);
  three = { name: "three.jpg", bytes: await threePeople(browser) };
  one = { name: "collins.jpg", bytes: fs.readFileSync(example("collins.jpg")) };
});
after(async () => {
  await browser?.close();
  if (server) assert.equal(await end(server), 0);
});

const card = (page, name) => page.locator(".card", { has: page.getByRole("heading", { name, exact: true }) });
const state = (page, name, state) => page.locator(`.card[aria-label="${name}"][data-state="${state}"]`).waitFor();

/** Asserts that nothing serious bars anybody (axe), and that the page needs no scrolling sideways. */
async function fit(page, where) {
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate(() => axe.run());
  assert.ok(passes.length > 10, `${where}: only ${passes.length} rules passed`);
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const words = serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  assert.deepEqual(words, [], where);
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${where}: ${wide} px wide in a window of ${window}`);
}

/** Chooses a method that is folded away. */
async function research(page, name) {
  await page.locator("#research summary").click();
  await page.locator(`#method-${name}`).check();
}

async function box(locator) {
  await locator.scrollIntoViewIfNeeded();
  return locator.boundingBox();
}

async function pull(page, [x, y], [u, v]) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move((x + u) / 2, (y + v) / 2);
  await page.mouse.move(u, v);
  await page.mouse.up();
}

test("two photos are dropped, faces chosen, changed, compared and downloaded", async () => {
  const { page, troubles } = await open(browser, server.url);
  await fit(page, "empty");
  await drop(page, [three, one]);
  await Promise.all([state(page, "three.jpg", "ready"), state(page, "collins.jpg", "ready")]);
  const first = card(page, "three.jpg");
  const faces = first.getByRole("button", { name: /^Face \d/ });
  assert.equal(await faces.count(), 3);

  await faces.nth(1).click();
  assert.equal(await faces.nth(1).getAttribute("aria-pressed"), "false");
  await first.getByRole("button", { name: "Draw a box" }).click();
  const photo = await box(first.locator(".stage img"));
  const at = ([x, y]) => [photo.x + x * photo.width, photo.y + y * photo.height];
  await pull(page, at([0.85, 0.6]), at([0.97, 0.9]));
  const drawn = first.locator("button.drawn");
  assert.equal(await drawn.count(), 1);
  const corners = await drawn.getAttribute("data-box");
  assert.match(await first.locator(".words").textContent(), /3 faces found, 1 left out, 1 drawn/);
  await fit(page, "faces");

  await page.getByRole("button", { name: "Change the faces in 2 photos" }).click();
  await first.getByRole("progressbar").waitFor();
  await fit(page, "progress");
  await Promise.all([state(page, "three.jpg", "done"), state(page, "collins.jpg", "done")]);
  assert.match(await first.locator(".checks").textContent(), /dlib, SFace, Intel, MobileFaceNet and FaceX-Zoo no longer match it with the original/);
  assert.match(await first.textContent(), /Claim: none/);

  // The divider follows the mouse and the keys.
  const divider = first.getByRole("slider");
  const value = async () => Number(await divider.getAttribute("aria-valuenow"));
  const cut = () => first.locator(".after").evaluate((image) => image.style.clipPath);
  assert.equal(await value(), 50);
  const handle = await box(divider);
  const window = await first.locator(".viewer").boundingBox();
  const middle = [handle.x + handle.width / 2, handle.y + handle.height / 2];
  const before = await cut();
  await pull(page, middle, [window.x + 0.25 * window.width, middle[1]]);
  assert.equal(await value(), 25);
  assert.notEqual(await cut(), before);
  await divider.press("ArrowRight");
  assert.equal(await value(), 27);
  await divider.press("End");
  assert.equal(await value(), 100);

  // The difference replaces the divider.
  const difference = first.getByRole("button", { name: "Difference" });
  await difference.click();
  assert.equal(await difference.getAttribute("aria-pressed"), "true");
  assert.equal(await divider.isVisible(), false);
  await first.locator(".legend").waitFor();
  await difference.click();
  await first.getByRole("button", { name: "Face 1" }).click();
  assert.ok(await first.locator(".scroll").evaluate((view) => view.scrollLeft + view.scrollTop > 0));
  await first.locator("summary").click();
  assert.match(await first.locator("pre").textContent(), /"kind": "steered"/);
  await page.locator("#plan summary").click();
  await page.locator("#chart svg").waitFor();
  await fit(page, "result");

  // The archive holds what the program makes under the same key and options.
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "facedp-zip-"));
  await download.saveAs(path.join(folder, "facedp.zip"));
  execFileSync("python3", ["-m", "zipfile", "-e", path.join(folder, "facedp.zip"), path.join(folder, "zip")]);
  assert.deepEqual(fs.readdirSync(path.join(folder, "zip")).sort(), ["collins.jpg", "three.jpg"]);
  for (const [{ name, bytes }, options] of [[three, ["--faces", "1,3", "--box", corners]], [one, []]]) {
    fs.writeFileSync(path.join(folder, name), bytes);
    await run("protect", path.join(folder, name), "-o", path.join(folder, "out"), "--key", server.key, "--no-check", ...options);
    const [ours, theirs] = ["zip", "out"].map((where) => fs.readFileSync(path.join(folder, where, name)));
    assert.ok(ours.equals(theirs), name);
  }
  fs.rmSync(folder, { recursive: true });
  assert.deepEqual(troubles, []);
  await page.close();
});

test("one method is offered first, and words follow from what is measured", async () => {
  const { page, troubles } = await open(browser, server.url);
  assert.equal(await page.locator("#method-certified").isVisible(), false);
  assert.equal(await page.locator("#method-steered").isChecked(), true);
  const strength = page.locator("#strength-steered");
  const about = page.locator("#about-steered");
  const sentences = new Set();
  for (const value of ["low", "medium", "high"]) {
    await strength.selectOption(value);
    sentences.add(await about.textContent());
  }
  assert.equal(sentences.size, 3);
  for (const sentence of sentences) assert.match(sentence, /still match.*of 100 photos/);
  await page.locator("#research summary").click();
  assert.equal(await page.locator("#method-certified").isVisible(), true);
  const words = await page.evaluate(async () => {
    const { quality, summary } = await import("/words.js");
    const verdict = { name: "dlib", match: false };
    return [
      ...[95, 82, 75, 65, 40, 10].map((ssimulacra2) => quality({ psnr: 30, ssimulacra2 })),
      summary({ faces: [{ recognisers: [verdict] }] }, "").text,
    ];
  });
  assert.match(words[0], /invisible \(quality 95.0/);
  assert.match(words[2], /hard to see without the original/);
  assert.match(words[5], /plainly visible/);
  assert.equal(new Set(words.map((text) => text.replace(/[\d.]+/, ""))).size, 7);
  assert.match(words[6], /no longer match the changed face/);
  assert.deepEqual(troubles, []);
  await page.close();
});

test("work is stopped half-way", async () => {
  const { page, troubles } = await open(browser, server.url);
  // Two photos with three faces each: neither is done before the other has begun.
  const again = { ...three, name: "again.jpg" };
  await drop(page, [three, again]);
  await Promise.all([state(page, "three.jpg", "ready"), state(page, "again.jpg", "ready")]);
  await page.locator("#go").click();
  const first = card(page, "three.jpg");
  await first.getByText(/Working: \d of 3 faces/).waitFor();
  await page.locator("#stop").click();
  await Promise.all([state(page, "three.jpg", "ready"), state(page, "again.jpg", "ready")]);
  assert.match(await first.locator(".status").textContent(), /Stopped: nothing was changed/);
  assert.equal(await page.locator("#save").isVisible(), false);
  // The program is free for other work.
  await research(page, "rdp-optimal");
  await card(page, "three.jpg").getByRole("button", { name: "Remove three.jpg" }).click();
  await page.locator("#go").click();
  await state(page, "again.jpg", "done");
  assert.deepEqual(troubles, []);
  await page.close();
});

test("photos are deleted when the page is left", async () => {
  const { page } = await open(browser, server.url);
  await drop(page, [three]);
  await state(page, "three.jpg", "ready");
  const [begun] = await Promise.all([page.waitForResponse(/\/protect$/), page.locator("#go").click()]);
  const { id } = await begun.json();
  const place = new URL(`/api/v1/protect/${id}`, server.url);
  await card(page, "three.jpg").getByText(/Working: \d of 3 faces/).waitFor();
  const known = () => fetch(place, { headers: bearer(server) });
  assert.equal((await known()).status, 200);
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto("about:blank");
  const late = Date.now() + HANG;
  while ((await known()).status !== 404) {
    assert.ok(Date.now() < late, "the program still has the photo");
    await new Promise((done) => setTimeout(done, 100));
  }
  await page.close();
});

test("a program that ended is reported, and can be tried again", async () => {
  const mortal = await serve();
  const { page } = await open(browser, mortal.url);
  await drop(page, [three]);
  await state(page, "three.jpg", "ready");
  await page.locator("#go").click();
  await card(page, "three.jpg").getByText(/Working: \d of 3 faces/).waitFor();
  mortal.program.kill("SIGKILL");
  fs.rmSync(mortal.folder, { recursive: true });
  const missed = card(page, "three.jpg").getByRole("alert");
  await missed.waitFor();
  assert.equal(await missed.textContent(), "The program does not answer: is it still running?");
  await drop(page, [one]);
  await state(page, "collins.jpg", "failed");
  await card(page, "collins.jpg").getByRole("button", { name: "Try again" }).click();
  await state(page, "collins.jpg", "failed");
  await page.close();
});

test("damaged files do not keep a good one from being changed", async () => {
  const { page, troubles } = await open(browser, server.url);
  const damaged = { name: "damaged.jpg", bytes: one.bytes.subarray(0, 3000) };
  const text = { name: "notes.txt", bytes: Buffer.from("no picture") };
  await drop(page, [damaged, one, text, { name: "empty.png", bytes: [] }]);
  await Promise.all([state(page, "damaged.jpg", "failed"), state(page, "collins.jpg", "ready"), state(page, "empty.png", "failed")]);
  assert.match(await card(page, "damaged.jpg").getByRole("alert").textContent(), /Damaged/);
  assert.match(await card(page, "notes.txt").getByRole("alert").textContent(), /JPEG, PNG, WebP and HEIC/);
  await research(page, "certified");
  const epsilon = page.locator("#epsilon-certified");
  await epsilon.fill("-1");
  await page.locator("#go").click();
  assert.equal(await epsilon.evaluate((input) => input.validity.valid), false);
  await epsilon.fill("8");
  await page.getByRole("button", { name: "Change the faces in 1 photo" }).click();
  await state(page, "collins.jpg", "done");
  assert.match(await card(page, "collins.jpg").textContent(), /Claim: eps-dp-face/);
  await fit(page, "errors");
  assert.deepEqual(troubles, []);
  await page.close();
});

test("HEIC is shown, changed and saved as JPEG", async () => {
  const { page, troubles } = await open(browser, server.url);
  const golden = path.join(ROOT, "crates/facedp-engine/tests/golden/heic/phone.heic");
  await drop(page, [{ name: "phone.heic", bytes: fs.readFileSync(golden) }]);
  await state(page, "phone.heic", "ready");
  const photo = card(page, "phone.heic");
  assert.match(await photo.locator(".status").textContent(), /200 × 192 pixels\. The result will be a JPEG\./);
  const shown = photo.getByRole("img", { name: "The photo" });
  assert.deepEqual(await shown.evaluate(async (image) => {
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  }), [200, 192]);
  await page.locator("#go").click();
  await state(page, "phone.heic", "done");
  assert.match(await photo.locator(".notes").textContent(), /HEIC was written as JPEG/);
  const [download] = await Promise.all([page.waitForEvent("download"), photo.getByRole("link", { name: /^Download \(/ }).click()]);
  assert.equal(download.suggestedFilename(), "phone-changed.jpg");
  assert.deepEqual([...fs.readFileSync(await download.path()).subarray(0, 3)], [0xff, 0xd8, 0xff]);
  // The original is compared with the result at its size.
  const sizes = await photo.locator(".body img").evaluateAll((all) => all.map((image) => [image.naturalWidth, image.naturalHeight]));
  assert.deepEqual(sizes, [[200, 192], [200, 192]]);
  assert.deepEqual(troubles, []);
  await page.close();
});

test("the keyboard is enough", async () => {
  const { page, troubles } = await open(browser, server.url);
  await page.locator("#research summary").focus();
  await page.keyboard.press("Enter");
  await page.locator("#method-rdp-optimal").focus();
  await page.keyboard.press("Space");
  await drop(page, [three]);
  await state(page, "three.jpg", "ready");
  const first = card(page, "three.jpg");
  const faces = first.getByRole("button", { name: /^Face \d/ });
  for (const face of await faces.all()) await face.press("Space");
  assert.equal(await page.locator("#go").isDisabled(), true);
  await first.getByRole("button", { name: "Add a box by keyboard" }).press("Enter");
  const drawn = first.locator("button.drawn");
  assert.ok(await drawn.evaluate((button) => button === document.activeElement));
  const place = async () => (await drawn.getAttribute("data-box")).split(",").map(Number);
  const [x, y, width, height] = await place();
  for (const key of ["ArrowLeft", "ArrowDown", "Shift+ArrowRight", "Shift+ArrowUp"]) await page.keyboard.press(key);
  const moved = await place();
  assert.deepEqual(moved.map((value, n) => Math.sign(value - [x, y, width, height][n])), [-1, 1, 1, -1]);
  await page.locator("#go").press("Enter");
  await state(page, "three.jpg", "done");
  assert.equal(await page.evaluate(() => document.activeElement.id), "save", "the focus moved elsewhere");
  assert.equal(await first.getByRole("button", { name: "Drawn box 1" }).count(), 1);
  await first.getByRole("button", { name: "Choose faces again" }).press("Enter");
  assert.ok(await faces.first().evaluate((button) => button === document.activeElement));
  await drawn.press("Delete");
  assert.equal(await drawn.count(), 0);
  assert.deepEqual(troubles, []);
  await page.close();
});

test("a doubtful face is drawn dashed, and one click includes it", async () => {
  const { page, troubles } = await open(browser, server.url);
  // The last of three faces becomes a doubt; its number stays the one that the program knows.
  await page.route("**/api/v1/detect", async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    const doubt = answer.result.faces.pop();
    answer.result.doubts = [{ number: 3, ...doubt }];
    await route.fulfill({ response, json: answer });
  });
  await research(page, "rdp-optimal");
  await drop(page, [three]);
  await state(page, "three.jpg", "ready");
  const first = card(page, "three.jpg");
  assert.equal(await first.getByRole("button", { name: /^Face \d/ }).count(), 2);
  const doubt = first.getByRole("button", { name: /^May be a face/ });
  assert.equal(await doubt.getAttribute("aria-pressed"), "false");
  assert.equal(await doubt.evaluate((button) => getComputedStyle(button).borderTopStyle), "dashed");
  assert.match(await first.locator(".words").textContent(), /2 faces found.*1 place that may be a face/);
  await doubt.click();
  assert.equal(await doubt.getAttribute("aria-pressed"), "true");
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/protect"));
  await page.locator("#go").click();
  assert.match((await sent).postDataBuffer().toString("latin1"), /"faces":\[1,2,3\]/);
  await state(page, "three.jpg", "done");
  assert.deepEqual(troubles, []);
  await page.close();
});

test("a folder keeps its structure, and equal names differ in the archive", async () => {
  const { page, troubles } = await open(browser, server.url);
  await research(page, "rdp-optimal");
  await page.locator("#folder").setInputFiles(path.dirname(example("collins.jpg")));
  await Promise.all([state(page, "photos/collins.jpg", "ready"), state(page, "photos/hopper.jpg", "ready")]);
  await drop(page, [one, one]);
  await page.waitForFunction(() => document.querySelectorAll("[data-state=ready]").length === 4);
  await page.getByRole("button", { name: "Change the faces in 4 photos" }).click();
  await page.waitForFunction(() => document.querySelectorAll("[data-state=done]").length === 4);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  const names = execFileSync("python3", ["-m", "zipfile", "-l", await download.path()], { encoding: "utf8" });
  for (const name of ["photos/collins.jpg", "photos/hopper.jpg", "collins.jpg", "collins (2).jpg"]) {
    assert.ok(names.split("\n").some((line) => line.startsWith(`${name} `)), names);
  }
  // The name of a single download is not the original's.
  const [single] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: /^Download/ }).first().click()]);
  assert.equal(single.suggestedFilename(), "collins-changed.jpg");
  await page.getByRole("button", { name: "Choose all again" }).click();
  assert.equal(await page.locator("[data-state=ready]").count(), 4);
  await page.getByRole("button", { name: "Remove all" }).click();
  assert.equal(await page.locator(".card").count(), 0);
  assert.deepEqual(troubles, []);
  await page.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`a phone, ${colorScheme}`, async () => {
    const { page, troubles } = await open(browser, server.url, { viewport: { width: 375, height: 740 }, colorScheme });
    await fit(page, "empty");
    await research(page, "rdp-optimal");
    await drop(page, [three]);
    await state(page, "three.jpg", "ready");
    await fit(page, "faces");
    await page.locator("#go").click();
    await state(page, "three.jpg", "done");
    await page.locator("#plan summary").click();
    await page.locator("#chart svg").waitFor();
    await card(page, "three.jpg").locator("summary").click();
    await fit(page, "result");
    assert.deepEqual(troubles, []);
    await page.close();
  });
}

// Prints the figures of docs/measurements/page.md. The time has no limit here: the machine may be busy.
test("the page is small", async () => {
  const paints = [];
  let bytes = 0;
  for (let load = 0; load < 5; load++) {
    const { page } = await open(browser, server.url);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime));
    const own = () => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .filter(({ name }) => !name.includes("/api/"))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    bytes = await page.evaluate(own);
    await page.close();
  }
  console.log(`first paint ${paints.map((ms) => ms?.toFixed(0) ?? "not yet").join(", ")} ms; ${bytes} bytes`);
  assert.ok(bytes > 10_000 && bytes <= 200_000, `${bytes}`);
});

test("other addresses of this machine do not answer", async () => {
  const { port } = new URL(server.url);
  const others = Object.values(os.networkInterfaces()).flat().filter(({ family, internal }) => family === "IPv4" && !internal);
  for (const address of [...others.map(({ address }) => address), "127.0.0.2"]) {
    await assert.rejects(fetch(`http://${address}:${port}/`), ({ cause }) => cause.code === "ECONNREFUSED", address);
  }
  const methods = new URL("/api/v1/methods", server.url);
  const foreign = await fetch(methods, { headers: { origin: "http://evil.example", ...bearer(server) } });
  assert.equal(foreign.status, 403);
  assert.equal((await fetch(methods)).status, 401);
  assert.equal((await fetch(methods, { headers: bearer(server) })).status, 200);
});

test("the token leaves the address, and the page works without it in the address", async () => {
  const { page, troubles } = await open(browser, server.url);
  assert.equal(page.url(), new URL("/", server.url).href);
  await page.reload();
  await page.locator("body[data-ready]").waitFor();
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.value], [true, "Strict", server.token]);
  assert.deepEqual(troubles, []);
  await page.close();
});
