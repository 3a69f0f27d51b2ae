import './connection-filter.css';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Text } from 'react-aria-components/Text';
import { Button } from './button.tsx';
import { foundConnectionsQuery } from './found-connections.ts';
import { Icon } from './icons.tsx';

/** The most connections to suggest. */
const OFFERED = 20;

interface ConnectionFilterProps {
  /** The name of the connection that the list is filtered by; null for none. */
  chosen: string | null;
  onChange: (id: string | undefined) => void;
}

/** Filters a list by one connection, found by part of its name or host. */
export function ConnectionFilter({ chosen, onChange }: ConnectionFilterProps) {
  if (chosen === null) return <ConnectionSearch onChoose={onChange} />;
  return (
    <Button
      aria-label={`Connection ${chosen}: show all connections`}
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
    ...foundConnectionsQuery(q, OFFERED),
    enabled: q !== '',
    select: (fleet) => fleet.data.map(({ id, name, host }) => ({ id: String(id), name, host })),
  });
  return (
    <ComboBox
      // Opens while the person types; nothing would open it when the answer arrives.
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
      <Input className="field-box" placeholder="Connection" />
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
