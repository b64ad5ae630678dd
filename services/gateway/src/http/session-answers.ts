import { type Answer, answers } from '@quittance/shared/http-answers';
import { rateLimitHeaders } from '../domain/rate-limit.ts';
import { cookieOf } from '../domain/session.ts';
import type { PasskeyRefusal } from '../operations/prove-passkey.ts';
import type { ProofRefusal } from '../operations/prove-person.ts';
import { factorsOf } from '../operations/second-factors.ts';
import { accountsOf, type NewSession, sessionLife } from '../operations/sessions.ts';
import { personView } from '../person-views.ts';
import type { Ports } from '../ports.ts';
import type { PersonSession } from '../store/sessions.ts';

/** What is answered to somebody who signs in or steps up, by whatever proof. */

export async function shownPerson(session: PersonSession, ports: Ports) {
  const [accounts, factors] = await Promise.all([
    accountsOf(ports, session),
    factorsOf(ports, session.person),
  ]);
  const isSandbox = ports.settings.SANDBOX_URL !== undefined;
  return personView(session, { accounts, factors }, { life: sessionLife(ports), isSandbox });
}

export const withCookie = (answer: Answer, cookie: string): Answer => ({
  ...answer,
  headers: { ...answer.headers, 'Set-Cookie': cookie },
});

/** With the cookie of the new session. */
export async function begunSession(
  message: string,
  { session, token }: NewSession,
  ports: Ports,
): Promise<Answer> {
  const data = await shownPerson(session, ports);
  return withCookie({ status: 201, body: { message, data } }, cookieOf(token));
}

export type SignInRefusal = ProofRefusal | PasskeyRefusal | { kind: 'no_such_account' };

export function refusedSignIn(refusal: SignInRefusal, { clock }: Ports): Answer {
  switch (refusal.kind) {
    case 'wrong':
      return answers.signInFailed;
    case 'passkey':
      return answers.passkeyRefused;
    case 'second_factor':
      return answers.secondFactorNeeded(refusal.given);
    case 'no_such_account':
      return answers.invalid({ account_id: [{ message: 'The selected account id is invalid.' }] });
    case 'too_many': {
      const headers = Object.fromEntries(rateLimitHeaders(refusal.rateLimit, clock.now()));
      return { ...answers.tooMany, headers };
    }
  }
}
