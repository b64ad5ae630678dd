import { expect, test } from '@jest/globals';
import { canBePublic, isPublicAddress } from './public-address-guard.ts';

/** The first and last address of IANA's special-purpose blocks. */
const notPublic = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
  ...['127.0.0.0', '127.0.0.1', '127.255.255.255', '169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ...['172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.255', '192.0.2.0', '192.0.2.255'],
  ...['192.88.99.0', '192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255'],
  ...['198.51.100.0', '198.51.100.255', '203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255'],
  ...['240.0.0.0', '255.255.255.254', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::8.8.8.8', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8'],
  ...[
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '100::1',
    '100:0:0:1::1',
  ],
  ...['2001::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::1', '2002:a00:1::1'],
  ...['3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fdff:ffff::1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  ...['fec0::1', 'ff02::1', '4000::1', '8000::1', 'e000::1'],
];
const public_ = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255'],
  ...[
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450::1',
  ],
];

test.each(notPublic)('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(public_)('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each(['', 'example.com', '1.2.3.4.5', 'g::1', '256.1.1.1'])('%j is not an address', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

/** Names of private networks are in ssrf-forms.ts. */
test.each(['..', '.', 'a..b', 'localhost..', 'example.com..', '-a.example', 'a_b.example'])(
  'the host %s is no name, and cannot be public',
  (name) => {
    expect(canBePublic(new URL(`https://${name}/`).hostname)).toBe(false);
  },
);

test.each([
  'example.com',
  'example.com.',
  'a-1.example',
  `${'a'.repeat(63)}.example`,
  'hooks.example.co.uk',
  'xn--bcher-kva.example',
  'bücher.example',
  'localhost.example.com',
  '8.8.8.8',
  '[2606:4700::1111]',
])('the host %s may be public', (name) => {
  expect(canBePublic(new URL(`https://${name}/`).hostname)).toBe(true);
});
