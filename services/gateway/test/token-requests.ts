import type { Db } from '@quittance/shared/db';
import { bytesOf, type Raw, sendRaw } from './gateway-fixture.ts';

export const HOUR_MS = 3_600_000;
export const later = (ms: number): Date => new Date(Date.now() + ms);

type Headers = readonly string[];

/** Requests for tokens, and what became of them. */
export function tokenRequests({ port }: { port: number }, db: Db) {
  const ask = (
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Headers = [],
  ): Promise<Raw> => {
    const all = [`Authorization: Bearer ${token}`, ...headers];
    return sendRaw(port, bytesOf(method, path, all, body === undefined ? '' : JSON.stringify(body)));
  };
  return {
    ask,
    create: (token: string, body: object, headers: Headers = []) =>
      ask(token, 'POST', '/api/tokens', { name: 'made', ...body }, headers),
    rotate: (token: string, id: string, body?: object) =>
      ask(token, 'POST', `/api/tokens/${id}/rotate`, body),
    /** The status of a request that every valid token may send. */
    works: async (token: string) => (await ask(token, 'GET', '/api/assets')).status,
    audit: (id: string) =>
      db.rows<{ actor: string; source: string | null; action: string; detail: string | null }>(
        'select actor, source, action, detail from audit_log where token_id = $1 order by seq',
        [id],
      ),
  };
}
