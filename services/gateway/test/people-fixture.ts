import { systemClock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Role } from '../src/domain/roles.ts';
import { SESSION_COOKIE } from '../src/domain/session.ts';
import { inviteAsOperator } from '../src/operations/operators-people.ts';
import { passwordHashes } from '../src/password-hashes.ts';
import type { GatewayOptions } from '../src/service.ts';
import { bytesOf, newToken, openGateways, operatorsDb, type Raw, sendRaw } from './gateway-fixture.ts';

/** Hashes that cost nothing: what a hash costs is not what these tests are about. */
export const cheapPasswords = passwordHashes({ memoryKib: 8, passes: 1 });

export const PASSWORD = 'horse battery stapler';
export const ORIGIN = 'http://localhost';

export const anEmail = (): string => `anna${Math.random().toString(36).slice(2)}@shop.example`;

export type SignedIn = { cookie: string; id: string; email: string; account: string; sessionId: string };

/** The value of the cookie that an answer sets. */
export const cookieIn = (answer: Raw): string =>
  new RegExp(`^${SESSION_COOKIE}=([^;]*);`).exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';

/** Requests of people to a gateway of a test. */
export function peopleOf({ port, url, db }: { port: number; url: string; db: Db }) {
  const ask = (
    method: string,
    path: string,
    { body, headers = [] }: { body?: object; headers?: readonly string[] } = {},
  ): Promise<Raw> =>
    sendRaw(port, bytesOf(method, path, headers, body === undefined ? '' : JSON.stringify(body)));

  /** A request as a page of ours sends it. */
  const by = (cookie: string, method: string, path: string, body?: object): Promise<Raw> => {
    const headers = [
      `Cookie: ${SESSION_COOKIE}=${cookie}`,
      `Origin: ${ORIGIN}`,
      'Sec-Fetch-Site: same-origin',
    ];
    return ask(method, path, { ...(body && { body }), headers });
  };
  const signIn = (email: string, password = PASSWORD, more: object = {}, headers: readonly string[] = []) =>
    ask('POST', '/api/session', { body: { email, password, ...more }, headers });

  const accept = (body: object): Promise<Raw> => ask('POST', '/api/invitations/accept', { body });

  const invited = async (account: string, email: string, role: Role): Promise<string> => {
    const made = await inviteAsOperator({ db, clock: systemClock }, { account, email, role, actor: 'ops' });
    if (!made.ok) throw new Error(made.refusal);
    return made.value.token;
  };

  /** Somebody who has signed in, of a new account or of this one. */
  async function someone(role: Role = 'owner', of?: string): Promise<SignedIn> {
    const account = of ?? (await newToken(url)).account;
    const email = anEmail();
    const token = await invited(account, email, role);
    const accepted = await accept({ token, name: role, password: PASSWORD });
    if (accepted.status !== 201) throw new Error(accepted.text);
    return signedIn(email);
  }

  async function signedIn(email: string): Promise<SignedIn> {
    const answer = await signIn(email);
    if (answer.status !== 201) throw new Error(answer.text);
    const { id, account_id: account, session_id: sessionId } = dataOf(answer);
    return { cookie: cookieIn(answer), id, email, account, sessionId };
  }

  const acts = (account: string) =>
    db.rows<{ actor: string; source: string | null; action: string; subject: string | null }>(
      'select actor, source, action, subject from audit_log where account_id = $1 order by seq',
      [account],
    );
  return { ask, by, signIn, accept, invited, someone, signedIn, acts };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the API answers and asserts on it
export const dataOf = (answer: Raw): any => (answer.body as { data: unknown }).data;

export const codeOf = ({ body }: Pick<Raw, 'body'>) => (body as { code?: string } | null)?.code;

/** For one suite: a gateway that people sign in at, whose passwords cost nothing. */
export async function openPeople(settings: Record<string, string> = {}, given: GatewayOptions = {}) {
  const gateways = await openGateways();
  const options = { passwords: cheapPasswords, ...given };
  const gateway = await gateways.startForAll(settings, options);
  const of = { url: gateways.url, db: operatorsDb(gateways.url) };
  return {
    ...gateways,
    ...{ gateway, db: of.db },
    ...peopleOf({ port: gateway.port, ...of }),
    /** One more gateway, for one test, and requests of people to it. */
    async beside(own: Record<string, string> = {}, others: GatewayOptions = {}) {
      const second = await gateways.start(own, { ...options, ...others });
      return { ...peopleOf({ port: second.port, ...of }), gateway: second };
    },
  };
}
