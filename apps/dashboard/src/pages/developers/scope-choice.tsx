import { Group, Input, Stack, Text, UnstyledButton } from '@mantine/core';
import { scopeMeanings } from '@quittance/client';
import { Small } from '../../parts/page.tsx';
import { allows, type Scope, useSession } from '../../session/session.ts';
import { CheckGroups } from './check-groups.tsx';
import { includes, presets, scopeGroups, withoutIncluded } from './token-scopes.ts';

/** Everything that the one who creates the token may, now and later, or what is named. */
export type Chosen = 'everything' | Scope[];

type Props = { value: Chosen; onChange(chosen: Chosen): void; error?: string | undefined };

/** What a token may do. Only what the person may do is offered: the API gives no token more. */
export function ScopeChoice({ value, onChange, error }: Props) {
  const session = useSession();
  const may = (scope: Scope) => allows(session, scope);
  const chosen = value === 'everything' ? [] : value;
  const groups = Object.entries(scopeGroups)
    .map(([name, scopes]) => [name, scopes.filter(may)] as const)
    .filter(([, open]) => open.length > 0);
  return (
    <Input.Wrapper label="What it may do" error={error}>
      <Stack gap="xs" mt={4}>
        <Group gap="xs">
          {presets
            .filter(({ scopes }) => scopes.every(may))
            .map(({ label, text, scopes }) => (
              <PresetButton
                key={label}
                label={label}
                text={text}
                isChosen={scopes.length === chosen.length && scopes.every((scope) => chosen.includes(scope))}
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
          <CheckGroups
            groups={Object.fromEntries(groups)}
            meanings={scopeMeanings}
            isOn={(scope) => includes(chosen, scope)}
            // It comes with the scope that writes.
            isDisabled={(scope) => includes(chosen, scope) && !chosen.includes(scope)}
            onChange={(scope, isOn) =>
              onChange(withoutIncluded(isOn ? [...chosen, scope] : chosen.filter((other) => other !== scope)))
            }
          />
        )}
      </Stack>
    </Input.Wrapper>
  );
}

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
    <Small>{text}</Small>
  </UnstyledButton>
);
