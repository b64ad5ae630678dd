// Finds a Chromium for the tests in a browser, or fetches one into .engines/ without root and without touching the
// system. What was found is written to .engines/browser.json, which is where testing/browser reads it. Nothing else needs a
// browser, so this is no part of the set-up: the tests begin it.

import fs from 'node:fs';
import path from 'node:path';
import { CHECKOUT, ENGINES_DIR, onPath, readJson, run, writeJson } from './commands.mjs';
import { aptFor, libraryPath, osRelease, unpackDebs } from './debian.mjs';
import {
  attempt,
  fetched,
  firstGood,
  isRecentlyMissing,
  isRecorded,
  missing,
  sweepScratch,
  theOverride,
} from './programs.mjs';

/** An older one may lack commands that Playwright sends. */
const CHROMIUM_VERSION_MIN = [130, 0, 0];
/**
 * Chromium without its windows takes half the time of a processor: others make a window, with all that is around a page, for each
 * profile, and each visit of a test has one of its own.
 */
const WITHOUT_WINDOWS = ['chromium-headless-shell', 'chrome-headless-shell'];
/** Where none of those can be had. */
const WITH_WINDOWS = ['chromium', 'google-chrome', 'google-chrome-stable'];
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const RECORD = path.join(ENGINES_DIR, 'browser.json');

const DEBIAN_BROWSER = 'usr/lib/chromium/chromium-headless-shell';
/** Without them a machine without fonts shows no text; the last has Chinese, Japanese and Korean. */
const FONTS = ['fonts-liberation', 'fonts-dejavu-core', 'fonts-wqy-microhei'];
/**
 * The machine's own libc has to be the one that its loader belongs to. The others are drivers of graphics cards, a quarter of
 * all that would be fetched: without a window Chromium draws by itself.
 */
const LEFT_OUT = /^(?:libc6|libc-bin|libgl1-mesa-dri|libllvm.*|libz3.*|mesa-.*)$/;

export function browserIsReady() {
  const found = readJson(RECORD);
  const override = process.env.CHROMIUM_PATH;
  const isRight =
    isRecorded(found?.chromium, override) && (override || isWithoutWindows(found.chromium.path));
  return isRight || isRecentlyMissing(found?.chromium, override);
}

/** Finds or fetches a Chromium and records it, or why there is none. */
export async function findBrowser(setup) {
  sweepScratch(setup.enginesDir);
  const { engine, problem } = await chromium(setup);
  if (problem) setup.say(problem);
  // A wrong CHROMIUM_PATH says nothing of the next run, which may have none.
  const none = setup.env.CHROMIUM_PATH ? { problem } : missing(problem);
  writeJson(RECORD, { chromium: engine ?? none });
}

async function chromium(setup) {
  const override = setup.env.CHROMIUM_PATH;
  if (override) return await theOverride('CHROMIUM_PATH', override, CHROMIUM_VERSION_MIN);
  const own = await firstGood(onPath(WITHOUT_WINDOWS, setup.path), CHROMIUM_VERSION_MIN);
  if (own) return { engine: { ...own, source: 'path' } };
  const folder = path.join(setup.enginesDir, 'chromium');
  const names = browsersIn(folder);
  const before = await firstGood(names, CHROMIUM_VERSION_MIN, libraryPath(folder));
  if (before) return fetched(setup, before, 'kept');
  setup.say('fetching chromium (for the tests in a browser) …');
  const attempts = [];
  for (const [name, fetchInto] of [
    ['Debian', fromDebian],
    ['the makers of Playwright', fromPlaywright],
  ]) {
    const outcome = await attempt(setup, folder, fetchInto, browsersIn, CHROMIUM_VERSION_MIN);
    if (outcome.engine) return fetched(setup, outcome.engine, name);
    attempts.push(`  from ${name}: ${outcome.problem}`);
  }
  const slower = await firstGood(
    [...onPath(WITH_WINDOWS, setup.path), ...APPLICATIONS],
    CHROMIUM_VERSION_MIN,
  );
  if (slower) return { engine: { ...slower, source: 'path', ...missing(attempts.join('\n')) } };
  return { problem: choices(attempts) };
}

const isWithoutWindows = (file) => /(?:headless-shell|headless_shell)$/.test(file);

function choices(attempts) {
  return [
    'there is no Chromium: the tests in a browser are skipped, all else works. Fetching one failed:',
    ...attempts,
    'Install chromium or Google Chrome, or say where it is: CHROMIUM_PATH=/path/to/chromium npm test -- browser',
  ].join('\n');
}

/** Wherever Debian's package and Playwright's archive have it. */
function browsersIn(folder) {
  if (!fs.existsSync(folder)) return [];
  const files = fs.readdirSync(folder, { recursive: true });
  const isBrowser = (file) => /(?:^|\/)(?:chrome-headless-shell|headless_shell)$/.test(file);
  return [DEBIAN_BROWSER, ...files.filter(isBrowser)].map((file) => path.join(folder, file));
}

/** Debian's Chromium for machines without a window. */
async function fromDebian(setup, scratch) {
  await fetchFromDebian(setup, scratch, ['chromium-headless-shell', ...FONTS]);
  fs.writeFileSync(path.join(scratch, 'out', 'fonts.conf'), FONTS_CONF);
}

/**
 * Packages with all of their libraries, from the machine's own release of Debian, into `out`. Which of them the machine has makes
 * no difference: what apt would have to replace, it would refuse.
 */
export async function fetchFromDebian(setup, scratch, wanted) {
  const release = osRelease();
  if (release.ID !== 'debian' || !release.VERSION_CODENAME) {
    throw new Error(`this is ${release.PRETTY_NAME ?? process.platform}, it is only fetched on Debian`);
  }
  const apt = await aptFor(scratch, release.VERSION_CODENAME, setup);
  const nothingInstalled = path.join(scratch, 'status');
  fs.writeFileSync(nothingInstalled, '');
  const status = ['-o', `Dir::State::status=${nothingInstalled}`];
  const plan = await apt([...status, 'install', '--simulate', '--no-install-recommends', ...wanted]);
  const packages = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  await apt([...status, 'download', ...packages.filter((name) => !LEFT_OUT.test(name))]);
  await unpackDebs(scratch, scratch);
  fs.renameSync(path.join(scratch, 'root'), path.join(scratch, 'out'));
}

/** The same fonts on each machine, in Debian's order. Paths are relative to FONTCONFIG_PATH, so that a checkout may be moved. */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
${['30-metric-aliases', '45-latin', '60-latin', '65-nonlatin']
  .map((name) => `  <include>usr/share/fontconfig/conf.avail/${name}.conf</include>`)
  .join('\n')}
</fontconfig>
`;

/** A build for other systems, which Playwright's own command knows where to get. */
async function fromPlaywright(_setup, scratch) {
  const cli = path.join(CHECKOUT, 'testing', 'browser', 'node_modules', 'playwright-core', 'cli.js');
  const env = { ...process.env, PLAYWRIGHT_BROWSERS_PATH: path.join(scratch, 'out') };
  const answer = await run(process.execPath, [cli, 'install', 'chromium-headless-shell'], { env });
  if (answer.code !== 0) throw new Error(answer.output);
}
