import './field.css';
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components/Button';
import { ComboBox, type ComboBoxProps } from 'react-aria-components/ComboBox';
import { FieldError } from 'react-aria-components/FieldError';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem, ListBoxSection } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Text } from 'react-aria-components/Text';
import type { Choice } from './field.tsx';
import { useFieldError } from './form-errors.tsx';
import { Icon } from './icons.tsx';

function Item({ id, label, description }: Choice) {
  return (
    <ListBoxItem className="choice" id={id} textValue={`${label} ${description ?? ''}`}>
      <span>
        <Text slot="label">
          <bdi>{label}</bdi>
        </Text>
        {description && (
          <Text className="field-description" slot="description">
            <bdi>{description}</bdi>
          </Text>
        )}
      </span>
    </ListBoxItem>
  );
}

interface SearchChoiceProps {
  /** The accessible name. */
  label: string;
  placeholder: string;
  text: string;
  onText: (text: string) => void;
  /** What matches the text. */
  found: readonly Choice[];
  /** Said when nothing does. */
  nothing: ReactNode;
  onChoose: (id: string) => void;
  options?: Pick<ComboBoxProps<Choice>, 'allowsEmptyCollection' | 'menuTrigger'>;
}

/** A search that suggests what it finds, for filters: a choice empties it. */
export function SearchChoice(props: SearchChoiceProps) {
  const { label, placeholder, text, onText, found, nothing, onChoose, options } = props;
  return (
    <ComboBox
      {...options}
      aria-label={label}
      className="search"
      defaultFilter={() => true}
      inputValue={text}
      items={found}
      onInputChange={onText}
      onSelectionChange={(id) => id !== null && onChoose(String(id))}
      selectedKey={null}
    >
      <Icon name="search" />
      <Input className="field-box" placeholder={placeholder} />
      <Popover className="popover">
        <ListBox className="choices" renderEmptyState={() => <p className="no-choice quiet">{nothing}</p>}>
          {Item}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** Suggestions under a heading. */
export interface SuggestionGroup {
  name: string;
  choices: readonly Choice[];
}

interface SearchSelectProps {
  label: string;
  groups: readonly SuggestionGroup[];
  value: string;
  onChange: (id: string) => void;
  parameter: string | readonly string[];
}

/** A field for one of many, in groups, found by a part of its name or description. */
export function SearchSelect({ label, groups, value, onChange, parameter }: SearchSelectProps) {
  const error = useFieldError(parameter);
  return (
    <ComboBox
      className="field"
      {...(error ? { isInvalid: true, validationBehavior: 'aria' as const } : {})}
      menuTrigger="focus"
      onSelectionChange={(id) => id !== null && onChange(String(id))}
      selectedKey={value}
    >
      <Label className="field-label">{label}</Label>
      <div className="field-row">
        <Input className="field-box" />
        <Button className="field-inside">
          <Icon name="down" />
        </Button>
      </div>
      <FieldError className="field-error">{error}</FieldError>
      <Popover className="popover">
        <ListBox
          className="choices"
          renderEmptyState={() => <p className="no-choice quiet">Nothing matches.</p>}
        >
          {groups.map(({ name, choices }) => (
            <ListBoxSection id={name} key={name}>
              <Header className="choice-group">{name}</Header>
              {choices.map((choice) => (
                <Item key={choice.id} {...choice} />
              ))}
            </ListBoxSection>
          ))}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
