import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { localPort } from '@quittance/testkit/local-port';

/**
 * A separate process, so that the cost of the hostile receivers is not measured. It sends the URL of each receiver, and
 * answers any message with the number of calls to the private server.
 */
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const SMALL_LINES = Buffer.from('x: y\r\n'.repeat(10_000));
const EARLY_HINTS = Buffer.from('HTTP/1.1 103 E\r\n\r\n'.repeat(3_000));
const CHUNK = Buffer.alloc(65_536, 'x');
const bomb = gzipSync(Buffer.alloc(200_000_000));
let privateCalls = 0;

const privateServer = createHttpServer((_, response) => {
  privateCalls += 1;
  response.end();
});

function drip(socket: Socket, first: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write('x'), 1_000);
  socket.on('close', () => clearInterval(timer));
}

function pour(socket: Socket, first: string, chunk = CHUNK): void {
  socket.write(first);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** Answers when the request begins, and discards the rest of it. */
const onRequest = (talk: (socket: Socket) => void) => (socket: Socket) => {
  socket.once('data', () => {
    talk(socket);
    socket.resume();
  });
};

const says = (text: string) => onRequest((socket) => void socket.end(text));

const privateUrl = () => `http://127.0.0.1:${privatePort}/`;

const receivers: Record<string, (socket: Socket) => void> = {
  hangs: (socket) => void socket.resume(),
  'never reads': (socket) => void socket.pause(),
  'drips a header': onRequest((socket) => drip(socket, `${OK}X-A: `)),
  'drips a body': onRequest((socket) => drip(socket, `${OK}Content-Length: 1000000\r\n\r\n`)),
  'resets before it answers': onRequest((socket) => socket.resetAndDestroy()),
  'resets in mid-answer': onRequest((socket) => {
    socket.write(`${OK}Content-Length: 1000\r\n\r\nhalf of it`, () =>
      setTimeout(() => socket.resetAndDestroy(), 20),
    );
  }),
  redirects: onRequest((socket) => {
    const headers = `Location: ${privateUrl()}\r\nContent-Length: 0\r\nConnection: close\r\n`;
    socket.end(`HTTP/1.1 307 Temporary Redirect\r\n${headers}\r\n`);
  }),
  'answers 10 GB': onRequest((socket) => pour(socket, `${OK}Content-Length: 10000000000\r\n\r\n`)),
  'answers 10 GB in chunks': onRequest((socket) => pour(socket, `${CHUNKED}fffffff\r\n`)),
  'is a gzip bomb': onRequest((socket) => {
    socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  }),
  'has headers of 100 kB': says(`${OK}X-A: ${'a'.repeat(100_000)}\r\n\r\n`),
  'has endless headers': onRequest((socket) => pour(socket, `${OK}X-A: `)),
  'has endless small headers': onRequest((socket) => pour(socket, OK, SMALL_LINES)),
  'has endless trailers': onRequest((socket) => pour(socket, `${CHUNKED}0\r\n`, SMALL_LINES)),
  'has an endless chunk extension': onRequest((socket) => pour(socket, `${CHUNKED}1;a=`)),
  'has an endless reason': onRequest((socket) => pour(socket, 'HTTP/1.1 200 ')),
  'says nothing but 103': onRequest((socket) => pour(socket, '', EARLY_HINTS)),
  'is gone': says('HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n'),
  'asks for time': says('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n'),
  // Accepts a TLS connection and never answers.
  'has slow TLS': (socket) => void socket.resume(),
};

const privatePort = await localPort(privateServer);
const urls: Record<string, string> = {};
for (const [name, talk] of Object.entries(receivers)) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    talk(socket);
  });
  urls[name] = `${name.endsWith('TLS') ? 'https' : 'http'}://127.0.0.1:${await localPort(server)}/`;
}
process.on('message', () => process.send?.({ privateCalls }));
process.on('disconnect', () => process.exit(0));
process.send?.({ urls, privateServer: privateUrl() });
