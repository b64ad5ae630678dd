import type { Example } from '@quittance/shared/reference';
import { AT, exampleIds } from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { passkey } from './passkeys.ts';
import { anna } from './people-examples.ts';

const id = exampleIds.passkey;
const phone: z.input<typeof passkey> = { id, name: 'My phone', created_at: AT, last_used_at: null };
const challenge = 'pqM3sXvR9yW1nD0b4uGkZcT7hJ2fLxA8eVtS6oQiKwE';

/** What browsers write is longer. */
const credentialId = 'k5Yx8Q2mVtW0pLr7aZcN1g';
const clientDataJSON = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0Iiwi4oCm';
const credential = (response: object) => ({
  id: credentialId,
  rawId: credentialId,
  type: 'public-key',
  response: { clientDataJSON, ...response },
});
const signed = credential({
  authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
  signature: 'MEUCIQDi4oCm',
  userHandle: 'm0tVb2fJx5rKqWc8ZsEnH1aYdLgTpR4uXoQ7iNeDkSg',
});

const requestOptions = {
  challenge,
  timeout: 300_000,
  rpId: 'pay.example',
  allowCredentials: [],
  userVerification: 'required',
};

export const examples: Readonly<Record<string, Example>> = {
  beginPasskeySignIn: { answer: { message: 'Sign with these options.', data: requestOptions } },
  signInWithPasskey: {
    body: { credential: signed },
    answer: { message: 'Signed in successfully.', data: anna },
  },
  beginPasskeyStepUp: {
    answer: {
      message: 'Sign with these options.',
      data: {
        ...requestOptions,
        allowCredentials: [{ id: credentialId, type: 'public-key', transports: ['internal'] }],
      },
    },
  },
  stepUpWithPasskey: {
    body: { credential: signed },
    answer: { message: 'Stepped up successfully.', data: anna },
  },
  listPasskeys: { answer: { data: [phone] } },
  beginPasskey: {
    answer: {
      message: 'Make a passkey with these options.',
      data: {
        challenge,
        rp: { name: 'pay.example', id: 'pay.example' },
        user: {
          id: 'm0tVb2fJx5rKqWc8ZsEnH1aYdLgTpR4uXoQ7iNeDkSg',
          name: anna.email,
          displayName: anna.name,
        },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ alg, type: 'public-key' })),
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        extensions: { credProps: true },
        hints: [],
      },
    },
  },
  addPasskey: {
    body: {
      name: phone.name,
      credential: credential({ attestationObject: 'o2NmbXRkbm9uZeKApg', transports: ['internal'] }),
    },
    answer: { message: 'Passkey registered successfully.', data: phone },
  },
  renamePasskey: {
    params: { id },
    body: { name: phone.name },
    answer: { message: 'Passkey renamed successfully.', data: phone },
  },
  removePasskey: { params: { id }, answer: { message: 'Passkey removed successfully.' } },
};
