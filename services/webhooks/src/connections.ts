import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Client, errors } from 'undici';
import { canonicalAddress, type Resolve } from './public-address-guard.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** The longest time that a connection is used, and that an idle one is kept. */
const CONNECTION_MS_MAX = 60_000;
const IDLE_CONNECTIONS_MAX = 1_024;
/** Counts all bytes up to the end of the headers: their lines, the reason, 1xx answers. */
const HEAD_BYTES_MAX = 16 * 1024;
/** Counts all bytes after the headers: the body, chunk framing and trailers. */
const BODY_BYTES_MAX = 64 * 1024;
/** The parser reads a piece to its end even after an error, so pieces are small. */
const PIECE_BYTES = 2_048;

/** A connection to one origin. It serves one attempt at a time. */
export type Connection = {
  client: Client;
  /** How many bytes the attempt may still read. */
  room: number;
  /** The remote address; undefined while it is not connected. */
  address: string | undefined;
  origin: string;
  born: number;
};

/** @param resolve is called again for each new connection, so that only a checked address is connected to */
export function openConnections(resolve: Resolve, ca: string | undefined) {
  const connect = connectorOf(resolve, ca);
  const all = new Set<Connection>();
  /** The one that was used last is the last one. */
  const idle: Connection[] = [];

  const end = (connection: Connection) => {
    all.delete(connection);
    // A waiting request receives the error; the promise itself has nothing to report.
    void connection.client.destroy();
  };
  const takeIdle = (origin: string): Connection | undefined => {
    const at = idle.findLastIndex((connection) => connection.origin === origin);
    return at === -1 ? undefined : idle.splice(at, 1)[0];
  };
  const lost = (connection: Connection) => {
    connection.address = undefined;
    const at = idle.indexOf(connection);
    if (at === -1) return;
    idle.splice(at, 1);
    end(connection);
  };

  const open = (origin: string): Connection => {
    const client = new Client(origin, {
      connect: (options, callback) =>
        connect(options, (...result) => {
          const [error, socket] = result;
          if (error === null) {
            connection.address = socket.remoteAddress && canonicalAddress(socket.remoteAddress);
            measure(socket, connection);
          }
          callback(...result);
        }),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: HEAD_BYTES_MAX,
      keepAliveMaxTimeout: CONNECTION_MS_MAX,
      // The sender limits the whole attempt instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection: Connection = { client, room: 0, address: undefined, origin, born: performance.now() };
    client.on('disconnect', () => lost(connection));
    all.add(connection);
    return connection;
  };

  return {
    /** Takes an idle connection to one of these addresses, or opens a new one. */
    take(origin: string, addresses: readonly LookupAddress[]): Connection {
      const canonical = addresses.map(({ address }) => canonicalAddress(address));
      let connection = takeIdle(origin);
      while (connection !== undefined && !isUsable(connection, canonical)) {
        end(connection);
        connection = takeIdle(origin);
      }
      connection ??= open(origin);
      connection.room = HEAD_BYTES_MAX;
      return connection;
    },
    /** The status is known: the limit of the body applies from now on. */
    answered(connection: Connection): void {
      connection.room = BODY_BYTES_MAX;
    },
    /** The answer has ended: the next attempt may use the connection. */
    keep(connection: Connection): void {
      if (connection.address === undefined || idle.length >= IDLE_CONNECTIONS_MAX) end(connection);
      else idle.push(connection);
    },
    end,
    async close(): Promise<void> {
      idle.length = 0;
      await Promise.all([...all].map(({ client }) => client.destroy()));
      all.clear();
    },
  };
}

const isUsable = ({ address, born }: Connection, addresses: readonly string[]): boolean =>
  address !== undefined && addresses.includes(address) && performance.now() - born < CONNECTION_MS_MAX;

/**
 * Passes received bytes to the parser in small pieces, and ends the connection at the first byte over the limit. The
 * parser's own limits are not enough: it counts neither 1xx answers nor reasons nor chunk extensions, and after too many
 * headers it still reads its piece to the end, with an error for each line.
 */
function measure(socket: Socket, connection: Connection): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const waiting = socket.readableLength;
    if (size !== undefined || waiting === 0) return read(size);
    if (socket.destroyed) return null;
    if (connection.room <= 0) {
      socket.destroy(new errors.HeadersOverflowError());
      return null;
    }
    const bytes = Math.min(waiting, connection.room, PIECE_BYTES);
    connection.room -= bytes;
    return read(bytes);
  };
}

function connectorOf(resolve: Resolve, ca: string | undefined): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
  return buildConnector({
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    lookup,
    // The environment of the process cannot turn this off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
}
