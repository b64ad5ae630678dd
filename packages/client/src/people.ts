import type { Api } from './api.ts';
import type { Answer, Body, Data, Item } from './operations.ts';
import { path, type RequestOptions } from './transport.ts';

/* What only a person does who has signed in with a browser, never an API token: see `ClientOptions.session`. */

/** Who has signed in, for which account, with which role. */
export type SignedIn = Answer<'getMe'>;
export type SignIn = Body<'signIn'>;
/** A session of the person, in any account. */
export type Session = Item<'listSessions'>;
/** Somebody of the account. */
export type Person = Item<'listPeople'>;
export type Role = Person['role'];
export type Invitation = Item<'listInvitations'>;
export type Passkey = Item<'listPasskeys'>;
/** What the browser made of the options, as `PublicKeyCredential.toJSON` gives it. */
type Credential = Body<'signInWithPasskey'>['credential'];

/** Signs in, out and up. The answer sets the cookie that the browser sends from then on. */
export class Sessions {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** @throws AuthenticationError `sign_in_failed`, or `second_factor_needed` when `code` is missing or wrong */
  signIn(proof: SignIn, options?: RequestOptions): Promise<SignedIn> {
    return this.#api.send('POST', '/api/session', proof, options);
  }

  /** What `navigator.credentials.get` is called with: `PublicKeyCredential.parseRequestOptionsFromJSON` reads it. */
  passkeyOptions(options?: RequestOptions): Promise<Data<'beginPasskeySignIn'>> {
    return this.#api.send('POST', '/api/session/passkey/options', undefined, options);
  }

  signInWithPasskey(proof: Body<'signInWithPasskey'>, options?: RequestOptions): Promise<SignedIn> {
    return this.#api.send('POST', '/api/session/passkey', proof, options);
  }

  /** Proves for ten minutes who the person is. The cookie changes. */
  stepUp(proof: Body<'stepUp'>, options?: RequestOptions): Promise<SignedIn> {
    return this.#api.send('POST', '/api/session/step-up', proof, options);
  }

  stepUpOptions(options?: RequestOptions): Promise<Data<'beginPasskeyStepUp'>> {
    return this.#api.send('POST', '/api/session/step-up/passkey/options', undefined, options);
  }

  stepUpWithPasskey(credential: Credential, options?: RequestOptions): Promise<SignedIn> {
    return this.#api.send('POST', '/api/session/step-up/passkey', { credential }, options);
  }

  list(options?: RequestOptions): Promise<Session[]> {
    return this.#api.getData('/api/sessions', options);
  }

  /** @param id of a session, or `current` to sign out */
  end(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/sessions/${id}`, options);
  }

  /** Ends all sessions of the person but this one. */
  endOthers(options?: RequestOptions): Promise<void> {
    return this.#api.delete('/api/sessions', options);
  }
}

/** The person who has signed in, and what the person signs in with. */
export class Me {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** @throws AuthenticationError when nobody has signed in */
  retrieve(options?: RequestOptions): Promise<SignedIn> {
    return this.#api.get('/api/me', options);
  }

  changePassword(change: Body<'changePassword'>, options?: RequestOptions): Promise<void> {
    return this.#api.act('PUT', '/api/me/password', change, options);
  }

  /** A secret for an app. Codes are asked for once `confirmTotp` has had the first one. */
  beginTotp(options?: RequestOptions): Promise<Data<'beginTotp'>> {
    return this.#api.send('POST', '/api/me/totp', undefined, options);
  }

  confirmTotp(code: string, options?: RequestOptions): Promise<Data<'confirmTotp'>> {
    return this.#api.send('POST', '/api/me/totp/confirm', { code }, options);
  }

  removeTotp(options?: RequestOptions): Promise<void> {
    return this.#api.delete('/api/me/totp', options);
  }

  replaceRecoveryCodes(options?: RequestOptions): Promise<Data<'replaceRecoveryCodes'>> {
    return this.#api.send('POST', '/api/me/recovery-codes', undefined, options);
  }

  passkeys(options?: RequestOptions): Promise<Passkey[]> {
    return this.#api.getData('/api/me/passkeys', options);
  }

  /** What `navigator.credentials.create` is called with: `PublicKeyCredential.parseCreationOptionsFromJSON` reads it. */
  beginPasskey(options?: RequestOptions): Promise<Data<'beginPasskey'>> {
    return this.#api.send('POST', '/api/me/passkeys/options', undefined, options);
  }

  addPasskey(passkey: Body<'addPasskey'>, options?: RequestOptions): Promise<Passkey> {
    return this.#api.send('POST', '/api/me/passkeys', passkey, options);
  }

  renamePasskey(id: string, name: string, options?: RequestOptions): Promise<Passkey> {
    return this.#api.send('PATCH', path`/api/me/passkeys/${id}`, { name }, options);
  }

  /** All other sessions end. */
  removePasskey(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/me/passkeys/${id}`, options);
  }
}

/** The people of the account. */
export class People {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(options?: RequestOptions): Promise<Person[]> {
    return this.#api.getData('/api/people', options);
  }

  /** The sessions of the person end. */
  changeRole(id: string, role: Role, options?: RequestOptions): Promise<Person> {
    return this.#api.send('PATCH', path`/api/people/${id}`, { role }, options);
  }

  /** API tokens that the person has created stay. */
  remove(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/people/${id}`, options);
  }
}

/** Invitations into the account. */
export class Invitations {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Those that can still be accepted. */
  list(options?: RequestOptions): Promise<Invitation[]> {
    return this.#api.getData('/api/invitations', options);
  }

  /** Its `token` is shown this once: pass it on. */
  create(invitation: Body<'invite'>, options?: RequestOptions): Promise<Data<'invite'>> {
    return this.#api.send('POST', '/api/invitations', invitation, options);
  }

  withdraw(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/invitations/${id}`, options);
  }

  /** Accepts one with its token. Somebody who has a password signs in first, and gives neither name nor password. */
  accept(acceptance: Body<'acceptInvitation'>, options?: RequestOptions): Promise<void> {
    return this.#api.act('POST', '/api/invitations/accept', acceptance, options);
  }
}
