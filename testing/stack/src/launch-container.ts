import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, Launch, Launched } from '@quittance/engines/launch-process';
import { takeLines } from '@quittance/engines/lines';
import { messageOf } from '@quittance/engines/process';
import { getContainerRuntimeClient } from 'testcontainers';
import { tellContainer } from './docker-command.ts';
import type { StackContainer } from './stack-container.ts';

/** A busy machine hands on late what a container has written last. */
const OUTPUT_WITHIN_MS = 10_000;

/** What to run a command in; `start()` of it must not wait until it serves, which is asked elsewhere. */
type Define = (command: Command) => StackContainer;

/** Each start is a container of its own, which is deleted at its end: for what keeps its data elsewhere. */
export const launchNew =
  (define: Define): Launch =>
  async (command, _stopSignal, take) => {
    const id = await define(command).launched();
    return await watched(id, { since: 0, take, remove: true });
  };

/** The container of the first start is started again, with all that it has written. */
export function launchAgain(define: Define): Launch {
  let known: string | undefined;
  return async (command, _stopSignal, take) => {
    const since = Math.floor(Date.now() / 1_000);
    if (known === undefined) known = await define(command).launched();
    else await (await getContainerRuntimeClient()).container.getById(known).start();
    return await watched(known, { since, take, remove: false });
  };
}

type Watching = {
  /** In seconds: what it wrote before is not taken again. */
  since: number;
  take(line: string): void;
  /** It is deleted at its end. */
  remove: boolean;
};

async function watched(id: string, { since, take, remove }: Watching): Promise<Launched> {
  const client = await getContainerRuntimeClient();
  const container = client.container.getById(id);
  const written = allTaken(await client.container.logs(container, { since }), take);
  const { State } = await container.inspect();
  let end: string | undefined;
  let paused = false;
  const ended = async () => {
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    end = `exit code ${StatusCode}`;
    await Promise.race([written, sleep(OUTPUT_WITHIN_MS, undefined, { ref: false })]);
    if (remove) await container.remove({ force: true, v: true });
  };
  const signal: Launched['signal'] = (name) => {
    if (end !== undefined) return;
    if (name === 'SIGSTOP') {
      tellContainer(id, ['pause']);
      paused = true;
    } else if (name !== 'SIGCONT') {
      tellContainer(id, ['kill', '--signal', name]);
    } else if (paused) {
      // Docker itself may have, when it was told to end.
      tellContainer(id, ['unpause']);
      paused = false;
    }
  };
  return {
    get pid() {
      return end === undefined ? State.Pid : undefined;
    },
    get end() {
      return end;
    },
    ended: ended(),
    signal,
    killAll: () => signal('SIGKILL'),
  };
}

function allTaken(log: Readable, take: (line: string) => void): Promise<void> {
  takeLines(log, take);
  log.once('error', (error) => take(`its log broke off: ${messageOf(error)}`));
  return new Promise((resolve) => log.once('close', resolve));
}
