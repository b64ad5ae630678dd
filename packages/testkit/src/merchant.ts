import { Agent, request } from 'undici';

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
  delete(path: string): Promise<ApiAnswer>;
};

/** A merchant's server: the public API over kept connections, with its token. */
export function merchant(url: string, id: string, token: string, connections = 64): Merchant {
  const dispatcher = new Agent({ connections, keepAliveTimeout: 30_000 });
  async function call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: string,
    headers = {},
  ): Promise<ApiAnswer> {
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
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  }
  return {
    id,
    token,
    get: (path) => call('GET', path),
    post: (path, body, headers) =>
      call('POST', path, typeof body === 'string' ? body : JSON.stringify(body), headers),
    delete: (path) => call('DELETE', path),
  };
}
