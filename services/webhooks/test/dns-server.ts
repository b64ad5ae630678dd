import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** The addresses of a name, IPv4 and IPv6, and its canonical name when it is an alias. */
export type Answer = { addresses: readonly string[]; alias?: string };

const TYPE_A = 1;
const TYPE_CNAME = 5;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;
const ANSWERED = 0x8180;
const NO_SUCH_NAME = 0x8183;
const SECONDS_TO_LIVE = 0;

/**
 * A DNS server on UDP (RFC 1035) that knows the given names only.
 * @param answer undefined when there is no such name. It is called for each query, so that answers may change
 */
export async function startDnsServer(answer: (name: string, query: number) => Answer | undefined) {
  const socket = createSocket('udp4');
  const asked = new Map<string, number>();
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const key = name.toLowerCase();
    if (type === TYPE_A) asked.set(key, (asked.get(key) ?? 0) + 1);
    const found = answer(key, asked.get(key) ?? 1);
    const records = found === undefined ? [] : recordsOf(name, type, found);
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(found === undefined ? NO_SUCH_NAME : ANSWERED, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(
      Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]),
      from.port,
      from.address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    /** In the form that a resolver takes. */
    address: `127.0.0.1:${socket.address().port}`,
    /** How often the IPv4 addresses of each name were queried. */
    asked,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function recordsOf(name: string, type: number, { addresses, alias }: Answer): Buffer[] {
  const owner = alias ?? name;
  const own = addresses.filter((address) => isIPv6(address) === (type === TYPE_AAAA));
  return [
    ...(alias === undefined ? [] : [record(name, TYPE_CNAME, nameBytes(alias))]),
    ...own.map((address) => record(owner, type, type === TYPE_AAAA ? v6Bytes(address) : v4Bytes(address))),
  ];
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(SECONDS_TO_LIVE, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(owner), fixed, data]);
}

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label, 'latin1')])),
    Buffer.of(0),
  ]);

const v4Bytes = (address: string): Buffer =>
  // eslint-disable-next-line no-restricted-syntax -- a byte
  Buffer.from(address.split('.').map((part) => parseInt(part, 10)));

/** Of an address in full or with one `::`, and with an IPv4 address at its end or not. */
function v6Bytes(address: string): Buffer {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const bytes = v4Bytes(parts.slice(0, 4).join('.'));
    return `${bytes.readUInt16BE(0).toString(16)}:${bytes.readUInt16BE(2).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::').map((half) => (half === '' ? [] : half.split(':'))) as string[][];
  const before = [...(head ?? [])];
  const after = tail ?? [];
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
  const bytes = Buffer.alloc(16);
  // eslint-disable-next-line no-restricted-syntax -- two bytes
  for (const [i, group] of groups.entries()) bytes.writeUInt16BE(parseInt(group, 16), 2 * i);
  return bytes;
}
