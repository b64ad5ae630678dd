import { Checkbox, Fieldset, Group, Input, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { scopeMeanings } from '@quittance/client';
import { allows, type Scope, useSession } from '../../session/session.ts';
import { includes, presets, scopeGroups, withoutIncluded } from './token-scopes.ts';

/** Everything that the one who creates the token may, now and later, or what is named. */
export type Chosen = 'everything' | Scope[];

type Props = { value: Chosen; onChange(chosen: Chosen): void; error?: string | undefined };

/** What a token may do. Only what the person may do is offered: the API gives no token more. */
export function ScopeChoice({ value, onChange, error }: Props) {
  const session = useSession();
  const mayAll = (scopes: readonly Scope[]) => scopes.every((scope) => allows(session, scope));
  const chosen = value === 'everything' ? [] : value;
  const isPreset = (scopes: readonly Scope[]) =>
    value !== 'everything' &&
    scopes.length === value.length &&
    scopes.every((scope) => value.includes(scope));
  return (
    <Input.Wrapper label="What it may do" error={error}>
      <Stack gap="xs" mt={4}>
        <Group gap="xs">
          {presets
            .filter(({ scopes }) => mayAll(scopes))
            .map(({ id, label, text, scopes }) => (
              <PresetButton
                key={id}
                label={label}
                text={text}
                isChosen={isPreset(scopes)}
                onClick={() => onChange([...scopes])}
              />
            ))}
          <PresetButton
            label="Everything"
            text={session.scopes === null ? 'All there is. Moves money.' : 'All that your role allows.'}
            isChosen={value === 'everything'}
            onClick={() => onChange(value === 'everything' ? [] : 'everything')}
          />
        </Group>
        {value !== 'everything' && (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
            {scopeGroups
              .map(({ name, scopes }) => ({ name, open: scopes.filter((scope) => allows(session, scope)) }))
              .filter(({ open }) => open.length > 0)
              .map(({ name, open }) => (
                <Fieldset key={name} legend={name} p="xs">
                  <Stack gap={6}>
                    {open.map((scope) => (
                      <ScopeBox
                        key={scope}
                        scope={scope}
                        chosen={chosen}
                        onChange={(isOn) =>
                          onChange(
                            withoutIncluded(
                              isOn ? [...chosen, scope] : chosen.filter((other) => other !== scope),
                            ),
                          )
                        }
                      />
                    ))}
                  </Stack>
                </Fieldset>
              ))}
          </SimpleGrid>
        )}
      </Stack>
    </Input.Wrapper>
  );
}

type BoxProps = { scope: Scope; chosen: readonly Scope[]; onChange(isOn: boolean): void };

const ScopeBox = ({ scope, chosen, onChange }: BoxProps) => (
  <Checkbox
    size="xs"
    label={scope}
    description={scopeMeanings[scope]}
    checked={includes(chosen, scope)}
    // It comes with the scope that writes.
    disabled={includes(chosen, scope) && !chosen.includes(scope)}
    onChange={({ currentTarget }) => onChange(currentTarget.checked)}
  />
);

type PresetProps = { label: string; text: string; isChosen: boolean; onClick(): void };

const PresetButton = ({ label, text, isChosen, onClick }: PresetProps) => (
  <UnstyledButton
    onClick={onClick}
    aria-pressed={isChosen}
    p="xs"
    maw={220}
    style={{
      borderRadius: 'var(--mantine-radius-md)',
      border: `1px solid var(${isChosen ? '--mantine-primary-color-filled' : '--mantine-color-default-border'})`,
      background: isChosen ? 'var(--mantine-primary-color-light)' : undefined,
    }}
  >
    <Text size="sm" fw={600}>
      {label}
    </Text>
    <Text size="xs" c="dimmed">
      {text}
    </Text>
  </UnstyledButton>
);
