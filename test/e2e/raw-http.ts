import { connect } from 'node:net';
import { checkAnswer } from '@quittance/testkit/documented-answers';

export type Raw = { status: number; headers: Map<string, string>; body: unknown };

/** Sends requests as bytes on a socket of their own: no client library tidies them up. Answers are as documented. */
export function rawHttp(port: () => number) {
  const send = (verb: string, path: string, headers: readonly string[], body = ''): Promise<Raw> =>
    new Promise<Raw>((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(port(), '127.0.0.1', () => socket.write(requestText(verb, path, headers, body)));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', reject);
      socket.on('close', () => resolve(readAnswer(Buffer.concat(chunks).toString('utf8'))));
    }).then((answer) => {
      const contentType = answer.headers.get('content-type') ?? '';
      checkAnswer({ method: verb, path, contentType, ...answer });
      return answer;
    });
  return {
    get: (path: string, ...headers: string[]) => send('GET', path, headers),
    post: (path: string, body: string, ...headers: string[]) =>
      send('POST', path, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], body),
  };
}

const requestText = (verb: string, path: string, headers: readonly string[], body: string): string =>
  [
    `${verb} ${path} HTTP/1.1`,
    'Host: localhost',
    'Accept: application/json',
    'Connection: close',
    ...headers,
    '',
    body,
  ].join('\r\n');

function readAnswer(text: string): Raw {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.toLowerCase(), value.join(':').trim()] as const;
    }),
  );
  const body = rest.join('\r\n\r\n');
  return {
    // eslint-disable-next-line no-restricted-syntax -- a status
    status: Number.parseInt(first.split(' ')[1] ?? '', 10),
    headers,
    body: body === '' ? null : JSON.parse(body),
  };
}
