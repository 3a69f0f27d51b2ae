import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Text } from 'react-aria-components/Text';
import type { Fleet } from '../../../../src/console/fleet/fleet.ts';
import { get } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icons.tsx';

/** So many are offered: whoever has more types more of the name. */
const OFFERED = 20;

interface ConnectionFilterProps {
  /** The connection that the list is restricted to, by its name; null for none. */
  chosen: string | null;
  onChange: (id: string | undefined) => void;
}

/** Restricts a list to one connection, found by a part of its name or host. */
export function ConnectionFilter({ chosen, onChange }: ConnectionFilterProps) {
  if (chosen === null) return <ConnectionSearch onChoose={onChange} />;
  return (
    <Button
      aria-label={`Connection ${chosen}: show all connections`}
      data-shortcut="/"
      icon="close"
      onPress={() => onChange(undefined)}
    >
      <bdi className="chosen-connection">{chosen}</bdi>
    </Button>
  );
}

function ConnectionSearch({ onChoose }: { onChoose: (id: string) => void }) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const { data } = useQuery({
    queryKey: ['fleet', 'names', q],
    queryFn: ({ signal }) => get<Fleet>('/fleet', { q, sort: 'name' }, signal),
    enabled: q !== '',
    placeholderData: keepPreviousData,
    select: (fleet) =>
      fleet.data.slice(0, OFFERED).map(({ id, name, host }) => ({ id: String(id), name, host })),
  });
  return (
    <ComboBox
      // Opened while it is typed, not when the answer comes: then nothing would open it.
      allowsEmptyCollection={text.trim() !== ''}
      aria-label="Connection"
      className="search"
      defaultFilter={() => true}
      inputValue={text}
      items={q === '' ? [] : (data ?? [])}
      onInputChange={setText}
      onSelectionChange={(id) => id !== null && onChoose(String(id))}
      selectedKey={null}
    >
      <Icon name="search" />
      <Input className="field-box" data-shortcut="/" placeholder="Connection" />
      <span aria-hidden="true" className="search-key">
        /
      </span>
      <Popover className="popover">
        <ListBox
          className="choices"
          renderEmptyState={() => (
            <p className="no-choice quiet">{data ? 'No connection matches.' : 'Searching…'}</p>
          )}
        >
          {({ id, name, host }: { id: string; name: string; host: string }) => (
            <ListBoxItem className="choice" id={id} textValue={name}>
              <span>
                <Text slot="label">
                  <bdi>{name}</bdi>
                </Text>
                <Text className="field-description" slot="description">
                  <bdi>{host}</bdi>
                </Text>
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
