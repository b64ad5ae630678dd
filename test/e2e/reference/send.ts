import { checkAnswer } from '@quittance/testkit/documented-answers';

export type Sent = { method: string; path: string; headers?: Record<string, string>; body?: string };
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the API answers and asserts on it
export type Got = { status: number; body: any };

/** Sends a request as a client would, and compares the answer with the reference. Of a stream the beginning is read. */
export async function send(
  { url, token }: { url: string; token: string | undefined },
  { method, path, headers = {}, body }: Sent,
): Promise<Got> {
  const ending = new AbortController();
  const answer = await fetch(`${url}${path}`, {
    method,
    signal: ending.signal,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const contentType = answer.headers.get('content-type') ?? '';
  const isStream = contentType.startsWith('text/event-stream');
  const text = isStream ? '' : await answer.text();
  if (isStream) ending.abort();
  const json = contentType.includes('json') ? JSON.parse(text) : text;
  checkAnswer({ method, path, status: answer.status, contentType, body: json });
  return { status: answer.status, body: json };
}
