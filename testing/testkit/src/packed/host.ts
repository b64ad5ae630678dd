import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reason } from '@quittance/shared/logger';
import type { Asset, Quittance } from '../public.ts';
import { startQuittance } from '../start-quittance.ts';
import type { Answer, Call, Calls } from './messages.ts';

/* The process that runs Quittance for the tests of a shop. It ends, and stops all of Quittance, with the process of the tests. */

/** nats-server is no npm package. */
const FETCH_NATS = fileURLToPath(new URL('../../../../tools/setup/fetch-nats.mjs', import.meta.url));

let started: Promise<Quittance> | undefined;

const send = (answer: Answer) => void process.send?.(answer);
const running = async (): Promise<Quittance> => {
  if (started === undefined) throw new Error('Quittance was not started');
  return await started;
};

async function begin(options: Parameters<Calls['start']>[0]): Promise<Quittance> {
  await fetchNats();
  return await startQuittance({ ...options, engines: 'embedded', say: (line) => send({ say: line }) });
}

async function fetchNats(): Promise<void> {
  try {
    const { stderr } = await promisify(execFile)(process.execPath, [FETCH_NATS]);
    for (const line of stderr.split('\n').filter(Boolean)) send({ say: line });
  } catch (error) {
    const said = Error.isError(error) && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(said.trim() || reason(error));
  }
}

async function answered(asked: Call): Promise<unknown> {
  switch (asked.call) {
    case 'start': {
      started = begin(...asked.args);
      const { url, token, nodes } = await started;
      return { url, token, nodes };
    }
    case 'merchant':
      return await (await running()).merchant(...asked.args);
    case 'pay': {
      const [asset, address, amount] = asked.args;
      // What is no asset is refused there.
      return await (await running()).pay(asset as Asset, address, amount);
    }
    case 'mine':
      return await (await running()).mine(...asked.args);
    case 'stop':
      return await (await running()).stop();
  }
}

process.on('message', (asked: Call) => {
  answered(asked).then(
    (value) => send({ id: asked.id, value }),
    (error: unknown) => send({ id: asked.id, error: reason(error) }),
  );
});
// A terminal's Ctrl-C reaches this process too. It ends when the tests' process has, and removes its data.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.once('disconnect', () => {
  const stop = async () => await (await started)?.stop();
  stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
