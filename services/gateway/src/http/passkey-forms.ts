import { form } from '@quittance/shared/form';
import { rules } from '@quittance/shared/validation';
import { z } from 'zod';

const ACCOUNT_CHARACTERS_MAX = 255;
const NAME_CHARACTERS_MAX = 255;

const problem = 'The credential must be what the browser returns, as JSON.';

/** An id of 1,023 bytes (WebAuthn, 5.8.3). */
const ID_CHARACTERS_MAX = 1_364;
const CLIENT_DATA_CHARACTERS_MAX = 4_096;
const AUTHENTICATOR_DATA_CHARACTERS_MAX = 4_096;
const ATTESTATION_CHARACTERS_MAX = 8_192;
const SIGNATURE_CHARACTERS_MAX = 2_048;
const HANDLE_CHARACTERS_MAX = 86;
const TRANSPORTS_MAX = 20;
const TRANSPORT_CHARACTERS_MAX = 50;

/** Bytes in base64url, as browsers write them. */
const bytes = (charactersMax: number, text: string) =>
  z
    .string({ error: problem })
    .max(charactersMax, { error: problem, abort: true })
    .regex(/^[\w-]+$/, { error: problem })
    .describe(text);

const object = <S extends z.core.$ZodLooseShape>(shape: S) => z.object(shape, { error: problem });

const credential = <S extends z.core.$ZodLooseShape>(response: S) =>
  object({
    id: bytes(ID_CHARACTERS_MAX, 'The id that the device gave the passkey, in base64url, as all bytes here.'),
    rawId: bytes(ID_CHARACTERS_MAX, 'The same.'),
    type: z.literal('public-key', { error: problem }).describe('The type of the credential.'),
    response: object({
      clientDataJSON: bytes(CLIENT_DATA_CHARACTERS_MAX, 'What the browser says: challenge and origin.'),
      ...response,
    }).describe('What the device returns.'),
  });

const transport = z.string({ error: problem }).max(TRANSPORT_CHARACTERS_MAX, { error: problem });

const created = () =>
  credential({
    attestationObject: bytes(ATTESTATION_CHARACTERS_MAX, 'The public key, as the device gives it.'),
    transports: z
      .array(transport, { error: problem })
      .max(TRANSPORTS_MAX, { error: problem })
      .nullish()
      .describe('How the device is reached.'),
  });

const signed = () =>
  credential({
    authenticatorData: bytes(AUTHENTICATOR_DATA_CHARACTERS_MAX, 'What the device says: host name, counter.'),
    signature: bytes(SIGNATURE_CHARACTERS_MAX, 'The signature of both.'),
    userHandle: bytes(HANDLE_CHARACTERS_MAX, 'What the device has as the id of the person.').nullish(),
  });

const name = rules.text(NAME_CHARACTERS_MAX).required;
export const readNewPasskey = form({ name, credential: created });
export const readPasskeyName = form({ name });
export const readPasskeySignIn = form({
  credential: signed,
  account_id: rules.text(ACCOUNT_CHARACTERS_MAX).optional,
});
export const readPasskeyStepUp = form({ credential: signed });
