import { Button, Group, Input, Stack } from '@mantine/core';
import type { EventType } from '@quittance/client';
import { CheckGroups } from './check-groups.tsx';
import { defaultTypes, eventGroups, eventMeanings, eventTypes } from './event-types.ts';

type Props = { value: EventType[]; onChange(types: EventType[]): void; error?: string | undefined };

const choices = {
  'What most shops need': defaultTypes,
  All: eventTypes,
  None: [],
} as const satisfies Record<string, readonly EventType[]>;

/** Which events an endpoint receives, in groups, each with what it means. */
export const EventChoice = ({ value, onChange, error }: Props) => (
  <Input.Wrapper label="Events" error={error}>
    <Stack gap="xs" mt={4}>
      <Group gap="xs">
        {Object.entries(choices).map(([label, types]) => (
          <Button key={label} size="compact-sm" variant="default" onClick={() => onChange([...types])}>
            {label}
          </Button>
        ))}
      </Group>
      <CheckGroups
        groups={eventGroups}
        meanings={eventMeanings}
        isOn={(type) => value.includes(type)}
        onChange={(type, isOn) => onChange(isOn ? [...value, type] : value.filter((other) => other !== type))}
      />
    </Stack>
  </Input.Wrapper>
);
