import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** How a server is asked for TLS: at once, by a request of Postgres, or after the greeting of NATS. */
export type TlsServer = {
  host: string;
  port: number;
  begins: 'at once' | 'as Postgres' | 'as NATS';
  /** Certificates of authorities; those that Node trusts without this. */
  authorities?: string | undefined;
};

export type PeerCertificate = {
  /** Of whom it is, as `CN=…`; empty where a server shows none. */
  subject: string;
  /** Undefined where a server shows none. */
  validTo: Date | undefined;
  /** Why a service would not connect; undefined when it would. */
  refusal: string | undefined;
};

const TIMEOUT_MS = 5_000;
/** Length and code of the message with which a client of Postgres asks for TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/**
 * The certificate of a server, also one that is not trusted.
 * @throws when there is no TLS, when the server closes the connection, and after five seconds
 */
export async function peerCertificate(server: TlsServer): Promise<PeerCertificate> {
  const { host, port, begins, authorities } = server;
  const socket = connect({ host, port });
  const ended = new AbortController();
  /** An error is thrown by what is awaited; where nothing is any more, it ends no process. */
  const told = () => undefined;
  // A server that closes in order, as a balancer does that reaches none, ends nothing that is awaited by itself.
  socket.on('error', told).once('close', () => ended.abort(new Error('the connection was closed')));
  const late = setTimeout(() => socket.destroy(new Error('no answer')), TIMEOUT_MS);
  const { signal } = ended;
  try {
    await once(socket, 'connect', { signal });
    await begun[begins](socket, signal);
    const secure = connectTls({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(authorities === undefined ? {} : { ca: authorities }),
      // Only looked at: nothing is sent.
      rejectUnauthorized: false,
    });
    secure.on('error', told);
    await once(secure, 'secureConnect', { signal });
    const { valid_to: validTo, subject } = secure.getPeerCertificate();
    const error: unknown = secure.authorizationError;
    const refusal = secure.authorized ? undefined : String(Error.isError(error) ? error.message : error);
    secure.destroy();
    return {
      subject: subject?.CN === undefined ? '' : `CN=${subject.CN}`,
      validTo: validTo === undefined ? undefined : new Date(validTo),
      refusal,
    };
  } catch (error) {
    // What an aborted wait throws says only that it was aborted.
    throw signal.aborted && Error.isError(error) && error.name === 'AbortError' ? signal.reason : error;
  } finally {
    clearTimeout(late);
    socket.destroy();
  }
}

const begun: Record<TlsServer['begins'], (socket: Socket, signal: AbortSignal) => Promise<void>> = {
  'at once': async () => undefined,
  async 'as Postgres'(socket, signal) {
    socket.write(SSL_REQUEST);
    const [answer] = (await once(socket, 'data', { signal })) as [Buffer];
    if (answer.toString() !== 'S') throw new Error('the server offers no TLS');
  },
  async 'as NATS'(socket, signal) {
    const [greeting] = (await once(socket, 'data', { signal })) as [Buffer];
    if (!/"tls_(?:required|available)":\s*true/.test(greeting.toString()))
      throw new Error('the server offers no TLS');
  },
};
