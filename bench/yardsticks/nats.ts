import { ADMIN } from '@quittance/shared/bus-permissions';
import type { Stack } from '@quittance/stack/stack';
import { connect, type NatsConnection } from 'nats';
import type { Sample } from '../benchmark.ts';
import { drive } from '../drive.ts';

const SUBJECT = 'bench.echo';
const SECONDS = 1;

/** A connection that may do everything. */
export async function connectAdmin({ busUrl }: Stack): Promise<NatsConnection> {
  const { host, username, password } = new URL(busUrl(ADMIN));
  return await connect({
    servers: host,
    user: username,
    pass: password,
  });
}

/** One request after the other to another connection that answers at once. The figure is the p50 in milliseconds. */
export async function openEcho(
  stack: Stack,
): Promise<{ measure(): Promise<Sample>; close(): Promise<void> }> {
  const [asks, answers] = [await connectAdmin(stack), await connectAdmin(stack)];
  answers.subscribe(SUBJECT, { callback: (_error, message) => void message.respond(message.data) });
  await answers.flush();
  return {
    async measure() {
      const sample = await drive(() => asks.request(SUBJECT, 'a', { timeout: 2_000 }), 1, SECONDS);
      return { ...sample, figure: sample.p50Ms ?? 0 };
    },
    async close() {
      await asks.close();
      await answers.close();
    },
  };
}
