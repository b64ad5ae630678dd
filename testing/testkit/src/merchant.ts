import type { ClientCall, ClientLog } from '@quittance/reconciliation/client-log';
import { Agent, request } from 'undici';
import type { AnswerToCheck } from './documented-answers.ts';

export type ApiAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the API answers and asserts on it
  body: any;
};

export type Merchant = {
  id: string;
  token: string;
  get(path: string): Promise<ApiAnswer>;
  /** `body` may be a text, to send numbers as they are written. */
  post(path: string, body: object | string, headers?: Record<string, string>): Promise<ApiAnswer>;
  patch(path: string, body: object): Promise<ApiAnswer>;
  put(path: string, body: object): Promise<ApiAnswer>;
  delete(path: string): Promise<ApiAnswer>;
};

/**
 * A merchant's server: the public API over kept connections, with its token.
 * @param log where it writes down what it asked and was answered, to be compared with the database
 * @param check throws when an answer is not as documented
 */
export function merchant(
  url: string,
  id: string,
  token: string,
  connections = 64,
  log?: ClientLog,
  check?: (answer: AnswerToCheck) => void,
): Merchant {
  const dispatcher = new Agent({ connections, keepAliveTimeout: 30_000 });
  async function call(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    const call: ClientCall = { account: id, method, path, ...(body === undefined ? {} : { body }) };
    const key = Object.entries(headers).find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1];
    if (key !== undefined) call.key = key;
    // Before anybody answers: whoever never does is in it as well.
    log?.push(call);
    const answer = await request(`${url}${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    const json = text === '' ? null : JSON.parse(text);
    const { statusCode: status } = answer;
    Object.assign(call, { status, answer: json });
    check?.({ method, path, status, contentType: String(answer.headers['content-type']), body: json });
    return { status, headers: answer.headers, body: json };
  }
  return {
    id,
    token,
    get: (path) => call('GET', path),
    post: (path, body, headers) =>
      call('POST', path, typeof body === 'string' ? body : JSON.stringify(body), headers),
    patch: (path, body) => call('PATCH', path, JSON.stringify(body)),
    put: (path, body) => call('PUT', path, JSON.stringify(body)),
    delete: (path) => call('DELETE', path),
  };
}
