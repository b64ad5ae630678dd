import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@quittance/engines/free-port';
import { startNats } from '@quittance/engines/nats';
import { STREAM } from '@quittance/shared/bus-connection';

/** A copy of a NATS server's folder at one moment. */
export type BusState = {
  /** How many events a server finds in it. Undefined: it finds no stream. */
  events(): Promise<number | undefined>;
};

type Streams = { account_details?: { stream_detail?: { name: string; state: { messages: number } }[] }[] };

/** Copies the data of a NATS server that does not run, or stands still; `events` asks a server of its own about it. */
export function busState(dataDir: string): BusState {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-bus-state-'));
  const data = join(dataDir, 'jetstream');
  if (existsSync(data)) cpSync(data, join(dir, 'jetstream'), { recursive: true });
  return {
    async events() {
      const monitor = `127.0.0.1:${await freePort()}`;
      const server = await startNats({
        dataDir: dir,
        port: 0,
        config: `http: "${monitor}"\n${accountsIn(join(dir, 'jetstream', 'jetstream'))}`,
      });
      try {
        const answer = await fetch(`http://${monitor}/jsz?accounts=true&streams=true`);
        const { account_details: accounts = [] } = (await answer.json()) as Streams;
        const streams = accounts.flatMap(({ stream_detail = [] }) => stream_detail);
        return streams.find(({ name }) => name === STREAM)?.state.messages;
      } finally {
        await server.stop();
        rmSync(dir, { recursive: true, force: true });
      }
    },
  };
}

/** The server makes a folder for each account below its store. It looks only at the streams of the accounts in its configuration; `$G` is there without being named. */
function accountsIn(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('$')) : [];
  return names.length === 0
    ? ''
    : `accounts { ${names.map((name) => `${name}: { jetstream: enabled }`).join(' ')} }`;
}
