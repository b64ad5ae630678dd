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

/** The certificate of a server, also one that is not trusted. Throws when there is no TLS. */
export async function peerCertificate(server: TlsServer): Promise<PeerCertificate> {
  const { host, port, begins, authorities } = server;
  const socket = connect({ host, port });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
  try {
    await once(socket, 'connect');
    await begun[begins](socket);
    const secure = connectTls({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(authorities === undefined ? {} : { ca: authorities }),
      // Only looked at: nothing is sent.
      rejectUnauthorized: false,
    });
    await once(secure, 'secureConnect');
    const { valid_to: validTo, subject } = secure.getPeerCertificate();
    const error: unknown = secure.authorizationError;
    const refusal = secure.authorized ? undefined : String(Error.isError(error) ? error.message : error);
    secure.destroy();
    return {
      subject: subject?.CN === undefined ? '' : `CN=${subject.CN}`,
      validTo: validTo === undefined ? undefined : new Date(validTo),
      refusal,
    };
  } finally {
    socket.destroy();
  }
}

const begun: Record<TlsServer['begins'], (socket: Socket) => Promise<void>> = {
  'at once': async () => undefined,
  async 'as Postgres'(socket) {
    socket.write(SSL_REQUEST);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    if (answer.toString() !== 'S') throw new Error('the server offers no TLS');
  },
  async 'as NATS'(socket) {
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    if (!/"tls_(?:required|available)":\s*true/.test(greeting.toString()))
      throw new Error('the server offers no TLS');
  },
};
