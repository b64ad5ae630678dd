import { expect } from '@jest/globals';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { type Fixture, IDENTITY_SECRET, listenTo } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests assert on whatever is answered
export type Answered = { status: number; body: any };

export type Caller = {
  /** Calls like the gateway for this account. A text body is sent unchanged. */
  call(method: string, path: string, account: AccountId, body?: unknown): Promise<Answered>;
  port: number;
  close(): Promise<void>;
};

/** Serves the routes of a fixture on their own port. */
export async function openCaller(
  { ports }: Fixture,
  { allowInsecure = ports.settings.allowInsecureEndpoints }: { allowInsecure?: boolean } = {},
): Promise<Caller> {
  const settings = { ...ports.settings, allowInsecureEndpoints: allowInsecure };
  const { port, close } = await listenTo({ ...ports, settings });
  return {
    async call(method, path, account, body) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { [IDENTITY_HEADER]: signIdentity(IDENTITY_SECRET, { account }, ports.clock.now()) },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    },
    port,
    close: () => close(0),
  };
}

export const noWebhook: Answered = {
  status: 404,
  body: expect.objectContaining({ message: 'No query results for model [Webhook].' }),
};
export const forbidden: Answered = { status: 403, body: { message: 'This action is unauthorized.' } };
export const invalid = (errors: Record<string, string[]>): Answered => ({
  status: 422,
  body: expect.objectContaining({ message: 'The given data was invalid.', errors }),
});
