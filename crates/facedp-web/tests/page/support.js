// The program, a browser, and photos to drop.

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const ROOT = path.resolve(import.meta.dirname, "../../../..");
export const PROGRAM = process.env.FACEDP ?? path.join(ROOT, "target/release/facedp");
/** How long anything may take before it counts as hanging, in milliseconds. */
export const HANG = 300_000;
export const example = (name) => path.join(ROOT, "examples/photos", name);

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function browser() {
  const executablePath = process.env.CHROMIUM ?? BROWSERS.find((name) => fs.existsSync(name));
  if (!executablePath) throw new Error("no Chromium found: install it, or name it in CHROMIUM");
  // Chromium has no sandbox for root.
  return chromium.launch({ executablePath, timeout: HANG, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

/** Runs the program to its end. */
export function run(...args) {
  return new Promise((done, failed) => {
    const program = spawn(PROGRAM, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    program.stdout.on("data", (text) => (said += text));
    program.stderr.on("data", (text) => (said += text));
    program.on("error", failed);
    program.on("exit", (code) => (code === 0 ? done(said) : failed(new Error(`${args.join(" ")}: ${said}`))));
  });
}

/** A server in a folder of its own, with a key. */
export async function serve() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "facedp-page-"));
  // A fixed key, so that results are the same every time.
  const key = path.join(folder, "key");
  fs.writeFileSync(key, `facedp-key-1:${"07".repeat(32)}\n`, { mode: 0o600 });
  const args = ["serve", "--no-open", "--json", "--key", key, "--ledger", path.join(folder, "ledger")];
  const program = spawn(PROGRAM, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: program.stdout });
  const [line] = await Promise.race([
    new Promise((done) => lines.once("line", (line) => done([line]))),
    new Promise((_, failed) => program.once("exit", (code) => failed(new Error(`the server ended with ${code}`)))),
  ]);
  const { url, token } = JSON.parse(line);
  return { folder, key, url, token, program };
}

/** What programs send to be let in. */
export const bearer = ({ token }) => ({ authorization: `Bearer ${token}` });

/** Ends a server; its exit code. */
export async function end({ program, folder }) {
  const code = new Promise((done) => program.once("exit", done));
  program.kill("SIGINT");
  fs.rmSync(folder, { recursive: true });
  return code;
}

/** Opens the page. `troubles` collects errors of scripts, and requests to other hosts. */
export async function open(browser, url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 }, ...options });
  page.setDefaultTimeout(HANG);
  const troubles = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL("/", url)) && !request.url().startsWith("blob:")) troubles.push(request.url());
  });
  await page.goto(url);
  await page.locator("body[data-ready]").waitFor();
  return { page, troubles };
}

/** Drops files on the page: [{ name, bytes }]. */
export async function drop(page, files) {
  const data = files.map(({ name, bytes }) => ({ name, text: Buffer.from(bytes).toString("base64") }));
  await page.evaluate((data) => {
    const transfer = new DataTransfer();
    for (const { name, text } of data) {
      const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    const target = document.getElementById("drop");
    for (const type of ["dragover", "drop"]) {
      target.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
  }, data);
}

/** A photo of three people, put together from the examples. */
export async function threePeople(browser) {
  const page = await browser.newPage();
  const sources = ["hopper.jpg", "collins.jpg"].map((name) => fs.readFileSync(example(name)).toString("base64"));
  const text = await page.evaluate(async ([hopper, collins]) => {
    const load = async (data) => {
      const image = new Image();
      image.src = `data:image/jpeg;base64,${data}`;
      await image.decode();
      return image;
    };
    const [first, second] = [await load(hopper), await load(collins)];
    const canvas = Object.assign(document.createElement("canvas"), { width: 1536, height: 600 });
    const drawing = canvas.getContext("2d");
    drawing.drawImage(first, 0, 0, 512, 600);
    drawing.drawImage(second, 512, 0, 512, 512);
    drawing.setTransform(-1, 0, 0, 1, 1536, 0);
    drawing.drawImage(second, 0, 0, 512, 512);
    return canvas.toDataURL("image/jpeg", 0.92).split(",")[1];
  }, sources);
  await page.close();
  return Buffer.from(text, "base64");
}
