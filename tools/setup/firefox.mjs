// Finds a Firefox for the tests, or fetches Debian's into .engines/ without root. What was found is written to
// .engines/firefox.json, which is where testing/browser reads it.

import fs from 'node:fs';
import path from 'node:path';
import { fetchFromDebian } from './browser.mjs';
import { ENGINES_DIR, onPath, readJson, writeJson } from './commands.mjs';
import { libraryPath } from './debian.mjs';
import {
  attempt,
  fetched,
  firstGood,
  isRecentlyMissing,
  isRecorded,
  missing,
  sweepScratch,
} from './programs.mjs';

/** An older one speaks less of WebDriver BiDi. */
const FIREFOX_VERSION_MIN = [140, 0, 0];
const RECORD = path.join(ENGINES_DIR, 'firefox.json');

export function firefoxIsReady() {
  const found = readJson(RECORD)?.firefox;
  return isRecorded(found) || isRecentlyMissing(found);
}

/** Finds or fetches a Firefox and records it, or why there is none. */
export async function findFirefox(setup) {
  sweepScratch(setup.enginesDir);
  writeJson(RECORD, { firefox: await firefox(setup) });
}

async function firefox(setup) {
  const own = await firstGood(onPath(['firefox-esr', 'firefox'], setup.path), FIREFOX_VERSION_MIN);
  if (own) return { ...own, source: 'path' };
  const folder = path.join(setup.enginesDir, 'firefox');
  const before = await firstGood(filesIn(folder), FIREFOX_VERSION_MIN, libraryPath(folder));
  if (before) return fetched(setup, before, 'kept').engine;
  setup.say('fetching firefox (for the tests in a browser) …');
  const fetchInto = (given, scratch) => fetchFromDebian(given, scratch, ['firefox-esr']);
  const { engine, problem } = await attempt(setup, folder, fetchInto, filesIn, FIREFOX_VERSION_MIN);
  if (engine) return fetched(setup, engine, 'Debian').engine;
  setup.say(`there is no Firefox: its tests are skipped. Fetching it failed: ${problem}`);
  return missing(problem);
}

const filesIn = (folder) => {
  const file = path.join(folder, 'usr/lib/firefox-esr/firefox-esr');
  return fs.existsSync(file) ? [file] : [];
};
