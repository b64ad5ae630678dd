import { describe, expect, test } from '@jest/globals';
import { clientAddress, clientKeyOf, isTrusted, type Network, parseNetworks } from './client-address.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
  ['203.0.113.7:4711', '203.0.113.7'],
  ['[::ffff:203.0.113.7]:4711', '203.0.113.7'],
  ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['localhost', 'unknown'],
  ['1', 'unknown'],
  [undefined, 'unknown'],
])('%s counts as %s', (address, peer) => {
  expect(clientKeyOf(address)).toBe(peer);
});

const networks = (...texts: string[]): readonly Network[] =>
  texts.flatMap((text) => parseNetworks(text) ?? []);

describe('the client of a request', () => {
  const proxies = networks('10.0.0.0/8', '2001:db8:f::/48');
  test.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['is the neighbour, whatever it says, when it is no trusted proxy', '192.0.2.1', '6.6.6.6', '192.0.2.1'],
    ['is the trusted proxy itself when it names nobody', '10.0.0.1', undefined, '10.0.0.1'],
    ['is the last one whom no trusted proxy is', '10.0.0.1', '6.6.6.6, 192.0.2.1, 10.1.1.1', '192.0.2.1'],
    ['has no port', '10.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
    ['is found behind a proxy with a port', '10.0.0.1', '192.0.2.1, 10.1.1.1:80', '192.0.2.1'],
    ['is found behind a proxy in brackets', '10.0.0.1', '192.0.2.1,[2001:db8:f::1]:80', '192.0.2.1'],
    ['is found behind a proxy wrapped in IPv6', '::ffff:10.0.0.1', '192.0.2.1, ::ffff:a01:101', '192.0.2.1'],
    ['is the proxy that passed on what is no address', '10.0.0.1', '192.0.2.1, nobody, 10.1.1.1', '10.1.1.1'],
    ['is not known when the neighbour has gone', undefined, '192.0.2.1', undefined],
  ])('%s', (_, neighbour, forwardedFor, client) => {
    expect(clientAddress(neighbour, forwardedFor, proxies)).toBe(client);
  });
});

test.each([
  ['127.8.8.8', 'loopback', true],
  ['::1', 'loopback', true],
  ['172.18.0.1', 'uniquelocal', true],
  ['::ffff:172.18.0.1', 'uniquelocal', true],
  ['172.32.0.1', 'uniquelocal', false],
  ['fe80::1%eth0', 'linklocal', true],
  ['169.254.1.1', 'linklocal', true],
  ['10.1.1.1', 'uniquelocal', true],
  ['192.168.1.1', 'uniquelocal', true],
  ['fd00::1', 'uniquelocal', true],
  ['10.2.3.4', 'constructor', false],
  ['10.200.3.4', '::ffff:10.0.0.0/104', true],
  ['11.2.3.4', '::ffff:10.0.0.0/104', false],
  ['203.0.113.7', '::ffff:0:0/96', true],
  ['203.0.113.7', '::ffff:0:0/95', false],
  ['10.2.3.4', '10.2.3.4', true],
  ['10.2.3.5', '10.2.3.4', false],
  ['::a02:304', '10.2.3.4', false],
])('%s is of %s: %s', (address, network, expected) => {
  expect(isTrusted(address, networks(network))).toBe(expected);
});

test.each([undefined, 'unknown'])('%p is no address, and is not believed', (address) => {
  expect(isTrusted(address, networks('10.0.0.0/8'))).toBe(false);
});
