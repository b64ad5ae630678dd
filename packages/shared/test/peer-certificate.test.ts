import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { peerCertificate, type TlsServer } from '../src/peer-certificate.ts';

/** What stands before a server that does not run takes a connection and closes it, in order or not. */
const closing: Record<string, (socket: Socket) => void> = {
  'in order': (socket) => void socket.end(),
  'in order, after it has read': (socket) => void socket.once('data', () => socket.end()),
  'by a reset': (socket) => void socket.resetAndDestroy(),
};
const kinds: readonly TlsServer['begins'][] = ['at once', 'as Postgres', 'as NATS'];

let server: Server | undefined;
afterEach(() => void server?.close());

describe.each(kinds)('a server that is asked for TLS %s', (begins) => {
  test.each(Object.keys(closing))(
    'and closes the connection %s is one without a certificate',
    async (how) => {
      server = createServer((socket) => {
        socket.on('error', () => undefined);
        closing[how]?.(socket);
        // NATS speaks first: who waits for its greeting is closed without having sent anything.
        if (begins === 'as NATS') setTimeout(() => socket.end(), 50);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      await expect(peerCertificate({ host: '127.0.0.1', port, begins })).rejects.toThrow(
        /closed|disconnected|ECONNRESET/,
      );
    },
  );
});
