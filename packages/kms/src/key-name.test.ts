import { expect, it } from '@jest/globals';
import { readKeyName } from './key-name.ts';

const arn = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const version =
  'projects/my-shop/locations/europe-west3/keyRings/quittance/cryptoKeys/ethereum/cryptoKeyVersions/1';

it('names a key of AWS by its ARN, and one of Google by its version', () => {
  expect(readKeyName(`aws-kms:${arn}`)).toEqual({ kms: 'aws', arn, region: 'eu-central-1' });
  const other = 'arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-1234abcd12ab34cd56ef1234567890ab';
  expect(readKeyName(`aws-kms:${other}`)).toEqual({ kms: 'aws', arn: other, region: 'us-gov-west-1' });
  expect(readKeyName(`google-kms:${version}`)).toEqual({ kms: 'google', version });
});

it.each([
  arn,
  'aws-kms:alias/quittance',
  'aws-kms:arn:aws:kms:eu-central-1:111122223333:alias/quittance',
  'aws-kms:arn:aws:s3:eu-central-1:111122223333:key/1',
  `google-kms:${version.replace('/cryptoKeyVersions/1', '')}`,
  `google-kms:${version}/../2`,
  `google-kms:${version}:asymmetricSign`,
  `vault:${arn}`,
])('%s names none: what it means could change, or it is of another form', (text) => {
  expect(readKeyName(text)).toBeUndefined();
});
