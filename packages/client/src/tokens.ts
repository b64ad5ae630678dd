import type { Api } from './api.ts';
import type { Body, Data, Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/** An API token of the account, without itself. */
export type Token = Item<'listTokens'>;
/** With `token`, which is shown this once. */
export type CreatedToken = Data<'createToken'>;
export type RotatedToken = Data<'rotateToken'>;
export type CreateToken = Body<'createToken'>;

/** The API tokens of the account. A token that creates or rotates others gives them nothing that it has not itself. */
export class Tokens {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** All of them, newest first: those that were revoked or have expired as well. */
  list(query?: Query<'listTokens'>, options?: RequestOptions): List<Token, PageMeta> {
    return this.#api.list('/api/tokens', query, options);
  }

  /** Also one that was revoked or has expired. */
  retrieve(id: string, options?: RequestOptions): Promise<Token> {
    return this.#api.get(path`/api/tokens/${id}`, options);
  }

  /**
   * Creates a token. Store its `token`: it is shown this once.
   * @throws ConflictError when the answer to a first try was lost: its message names the token, which you revoke
   */
  create(token: CreateToken, options?: RequestOptions): Promise<CreatedToken> {
    return this.#api.create('/api/tokens', token, options);
  }

  /**
   * Creates a token that takes the place of another, which stays valid for `overlap_hours`, 24 when not given.
   * @throws ConflictError when it was rotated before, also by a first try of this call whose answer was lost
   */
  rotate(id: string, how: Body<'rotateToken'> = {}, options?: RequestOptions): Promise<RotatedToken> {
    return this.#api.create(path`/api/tokens/${id}/rotate`, how, options);
  }

  /** Revokes a token: the next request with it is refused. */
  revoke(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/tokens/${id}`, options);
  }
}
