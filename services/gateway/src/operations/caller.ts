import type { Identity } from '@quittance/shared/identity';
import type { SessionId, TokenId } from '@quittance/shared/ids';
import { invariant } from '@quittance/shared/result';
import { scopesOfRole } from '../domain/roles.ts';
import type { Scope } from '../domain/scopes.ts';
import type { PersonSession } from '../store/sessions.ts';
import type { TokenCaller } from '../store/tokens.ts';

/** A person who has signed in, and acts for the account of the session. */
export type PersonCaller = {
  tokenId: undefined;
  session: PersonSession;
  account: PersonSession['account'];
  scopes: readonly Scope[] | null;
  /** Of the session's token. */
  hash: Buffer;
};

/** Whose request it is: an API token, or a person. */
export type Caller = TokenCaller | PersonCaller;

export const callerOfSession = (session: PersonSession, hash: Buffer): PersonCaller => ({
  tokenId: undefined,
  session,
  account: session.account,
  scopes: scopesOfRole[session.role],
  hash,
});

/** What ends with it: the token, or the session. */
export const idOfCaller = (caller: Caller): TokenId | SessionId => caller.tokenId ?? caller.session.id;

/** What services are told of a caller. @param asOperator of a request of an operator */
export const identityOf = (caller: Caller, asOperator = false): Identity => {
  const { account, scopes } = caller;
  if (asOperator) {
    invariant(caller.tokenId === undefined && caller.session.isOperator, 'only an operator asks as one');
    return { account, person: caller.session.person, operator: true };
  }
  const who = caller.tokenId === undefined ? { person: caller.session.person } : { token: caller.tokenId };
  return { account, ...who, scopes: scopes ?? undefined };
};
