/** A key in a KMS, by what its operator calls it. */
export type KmsKeyName = { kms: 'aws'; arn: string; region: string } | { kms: 'google'; version: string };

/** What to write, for who has written something else. */
export const KEY_NAME_FORM =
  'must be aws-kms: and the ARN of a key (arn:aws:kms:<region>:<account>:key/<id>), or google-kms: and the version of a key (projects/<project>/locations/<location>/keyRings/<ring>/cryptoKeys/<key>/cryptoKeyVersions/<number>)';

// No aliases, and no key without its version: these can be pointed at another key, which would be another hot wallet.
const awsForm = /^aws-kms:(arn:aws[a-z-]*:kms:([a-z]{2}[a-z0-9-]*):\d{12}:key\/[A-Za-z0-9-]{1,128})$/;
const part = '[A-Za-z0-9_-]{1,63}';
const googleForm = new RegExp(
  `^google-kms:(projects/[a-z0-9.:-]{1,63}/locations/[a-z0-9-]{1,63}/keyRings/${part}/cryptoKeys/${part}/cryptoKeyVersions/[0-9]{1,10})$`,
);

/** Undefined when it is none. */
export function readKeyName(text: string): KmsKeyName | undefined {
  const [, arn, region] = awsForm.exec(text) ?? [];
  if (arn !== undefined && region !== undefined) return { kms: 'aws', arn, region };
  const [, version] = googleForm.exec(text) ?? [];
  return version === undefined ? undefined : { kms: 'google', version };
}
