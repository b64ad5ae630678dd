import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Bidi, connectBidi } from './bidi.ts';

/** Does nothing when it has found one before. */
const FETCH = fileURLToPath(new URL('../../../tools/setup/fetch-firefox.mjs', import.meta.url));
const ENGINES_DIR = fileURLToPath(new URL('../../../.engines/', import.meta.url));

type Firefox = { file: string; libraries: string | undefined };
type NoFirefox = { problem: string };

/** The Firefox of this machine, or the one that the set-up fetches: only with FIREFOX=1, because it takes a while. */
export async function findFirefox(): Promise<Firefox | NoFirefox> {
  const { stdout } = await promisify(execFile)(process.execPath, [FETCH]);
  const isWanted = stdout.trim() === 'wanted';
  if (!isWanted) return { problem: 'FIREFOX=1 was not set' };
  const { firefox } = JSON.parse(readFileSync(path.join(ENGINES_DIR, 'firefox.json'), 'utf8')) as {
    firefox: { path?: string; libraries?: string[]; problem?: string };
  };
  if (firefox.path === undefined) return { problem: firefox.problem ?? 'there is no Firefox' };
  return {
    file: path.resolve(ENGINES_DIR, firefox.path),
    libraries: firefox.libraries?.map((folder) => path.resolve(ENGINES_DIR, folder)).join(':'),
  };
}

/** A page of a Firefox of its own. It knows little: what a script in the page finds, and keys. */
export type FirefoxPage = {
  goto(url: string): Promise<void>;
  /** The value of an expression in the page. */
  evaluate<T>(expression: string): Promise<T>;
  /** Types into whatever has the focus. */
  type(text: string): Promise<void>;
  /** What goes wrong in the page: errors on the console, and scripts that throw. */
  problems: readonly string[];
  close(): Promise<void>;
};

const STARTED_WITHIN_MS = 60_000;

export async function openFirefox({ file, libraries }: Firefox): Promise<FirefoxPage> {
  const profile = mkdtempSync(path.join(tmpdir(), 'quittance-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const env = { ...process.env, HOME: profile, ...(libraries && { LD_LIBRARY_PATH: libraries }) };
  const firefox = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(firefox, 'exit');
  const end = async (bidi?: Bidi) => {
    await bidi?.send('browser.close').catch(() => firefox.kill('SIGKILL'));
    if (bidi === undefined) firefox.kill('SIGKILL');
    await ended;
    rmSync(profile, { recursive: true, force: true });
  };
  try {
    const problems: string[] = [];
    const bidi = await connectBidi(`${await listensAt(firefox.stderr)}/session`, (method, params) => {
      const { level, text } = params as { level?: string; text?: string };
      // It asks for an icon by itself, which no page has.
      if (method === 'log.entryAdded' && level === 'error' && !/\/favicon\.ico /.test(text ?? ''))
        problems.push(text ?? '');
    });
    await bidi.send('session.new', { capabilities: {} });
    await bidi.send('session.subscribe', { events: ['log.entryAdded'] });
    const { context } = await bidi.send<{ context: string }>('browsingContext.create', { type: 'tab' });
    return { ...pageOf(bidi, context), problems, close: () => end(bidi) };
  } catch (error) {
    await end();
    throw error;
  }
}

function listensAt(said: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Firefox says: ${text}`)), STARTED_WITHIN_MS);
    const decide = (outcome: () => void) => {
      clearTimeout(timer);
      outcome();
    };
    said.on('data', (chunk: Buffer) => {
      text += chunk;
      const url = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(text)?.[1];
      if (url !== undefined) decide(() => resolve(url));
    });
    said.on('end', () => decide(() => reject(new Error(`Firefox has ended: ${text}`))));
  });
}

type Evaluated = { type: string; result?: { value: string }; exceptionDetails?: { text: string } };

const pageOf = (bidi: Bidi, context: string): Pick<FirefoxPage, 'goto' | 'evaluate' | 'type'> => ({
  async goto(url) {
    await bidi.send('browsingContext.navigate', { context, url, wait: 'complete' });
  },
  async evaluate(expression) {
    const { result, exceptionDetails } = await bidi.send<Evaluated>('script.evaluate', {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
      target: { context },
      awaitPromise: true,
    });
    if (result === undefined) throw new Error(exceptionDetails?.text ?? expression);
    return JSON.parse(result.value);
  },
  async type(text) {
    const actions = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await bidi.send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
  },
});
