import './field.css';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { RadioGroup as AriaRadioGroup, Radio } from 'react-aria-components/RadioGroup';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField } from 'react-aria-components/TextField';
import { useFieldError } from './form-errors.tsx';
import { Icon } from './icons.tsx';

interface FieldProps {
  label: string;
  /** One sentence below the field. */
  description?: ReactNode;
  /** What is wrong with the value; the field is invalid while it is set. */
  error?: string | null | undefined;
  /** The parameters of the form's request for which the field is: what the service says about them stands here. */
  parameter?: string | readonly string[] | undefined;
  isRequired?: boolean;
  isDisabled?: boolean;
  isReadOnly?: boolean;
}

/** An error of the service must not block the next submit: `aria`, not `native`. */
function invalidBy(error: FieldProps['error']): { isInvalid?: true; validationBehavior?: 'aria' } {
  return error ? { isInvalid: true, validationBehavior: 'aria' } : {};
}

function Notes({ description, error }: Pick<FieldProps, 'description' | 'error'>) {
  return (
    <>
      {description && (
        <Text className="field-description" slot="description">
          {description}
        </Text>
      )}
      <FieldError className="field-error">
        {error ?? (({ validationErrors }) => validationErrors.join(' '))}
      </FieldError>
    </>
  );
}

interface TextFieldProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  name?: string;
  type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'datetime-local' | 'date' | 'time';
  autoComplete?: string;
  autoFocus?: boolean;
  placeholder?: string;
  maxLength?: number;
  minLength?: number;
  /** Rows of a multi-line field. */
  rows?: number;
  /** Monospaced: for hosts, URLs and SQL. */
  mono?: boolean;
}

/** A labelled text field; a password has a button that shows it. */
export function TextField({
  label,
  description,
  error,
  parameter,
  type = 'text',
  rows,
  placeholder = '',
  mono,
  ...props
}: TextFieldProps) {
  const refusal = useFieldError(parameter);
  const [shown, setShown] = useState(false);
  const secret = type === 'password';
  const box = mono ? 'field-box mono' : 'field-box';
  return (
    <AriaTextField
      {...props}
      className="field"
      {...invalidBy(error ?? refusal)}
      spellCheck={mono || type !== 'text' ? 'false' : 'true'}
      type={secret && shown ? 'text' : type}
    >
      <Label className="field-label">{label}</Label>
      {rows ? (
        <TextArea className={box} placeholder={placeholder} rows={rows} />
      ) : (
        <div className="field-row">
          <Input className={box} placeholder={placeholder} />
          {secret && (
            <AriaButton aria-pressed={shown} className="field-inside" onPress={() => setShown(!shown)}>
              {shown ? 'Hide' : 'Show'}
              <span className="hidden-text"> {label}</span>
            </AriaButton>
          )}
        </div>
      )}
      <Notes description={description} error={error ?? refusal} />
    </AriaTextField>
  );
}

export interface Choice {
  id: string;
  label: string;
  description?: string;
}

interface SelectProps extends FieldProps {
  value: string;
  onChange: (id: string) => void;
  choices: readonly Choice[];
  /** Hides the label visually: for filters above a list. */
  hideLabel?: boolean;
}

/** Tells the form around a {@link Select} of a choice, which has no event that bubbles. */
export const FormChange = createContext(() => {});

/** A dropdown with one choice. */
export function Select({
  label,
  value,
  onChange,
  choices,
  description,
  error,
  parameter,
  hideLabel = false,
  ...props
}: SelectProps) {
  const refusal = useFieldError(parameter);
  const tellForm = useContext(FormChange);
  return (
    <AriaSelect
      {...props}
      {...(hideLabel ? { 'aria-label': label } : {})}
      className="field"
      {...invalidBy(error ?? refusal)}
      onChange={(id) => {
        tellForm();
        onChange(String(id));
      }}
      value={value}
    >
      {!hideLabel && <Label className="field-label">{label}</Label>}
      <AriaButton className="field-box select-button">
        <SelectValue className="select-value">{({ selectedText }) => selectedText}</SelectValue>
        <Icon name="down" />
      </AriaButton>
      <Notes description={description} error={error ?? refusal} />
      <Popover className="popover">
        <ListBox className="choices" items={choices}>
          {(choice) => (
            <ListBoxItem className="choice" id={choice.id} textValue={choice.label}>
              <Icon name="check" />
              <span>
                <Text slot="label">{choice.label}</Text>
                {choice.description && (
                  <Text className="field-description" slot="description">
                    {choice.description}
                  </Text>
                )}
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface CheckboxProps {
  children: ReactNode;
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
  isDisabled?: boolean;
}

/** A checkbox with its label. */
export function Checkbox({ children, ...props }: CheckboxProps) {
  return (
    <AriaCheckbox {...props} className="checkbox">
      <span aria-hidden="true" className="checkbox-box">
        <Icon name="check" size={14} />
      </span>
      <span>{children}</span>
    </AriaCheckbox>
  );
}

/** Radio buttons. */
export function RadioGroup({
  label,
  value,
  onChange,
  choices,
  description,
  error,
  parameter,
  ...props
}: Omit<SelectProps, 'hideLabel'>) {
  const refusal = useFieldError(parameter);
  return (
    <AriaRadioGroup
      {...props}
      className="field radio-group"
      {...invalidBy(error ?? refusal)}
      onChange={onChange}
      value={value}
    >
      <Label className="field-label">{label}</Label>
      <div className="radios">
        {choices.map((choice) => (
          <Radio className="radio" key={choice.id} value={choice.id}>
            <span aria-hidden="true" className="radio-dot" />
            <span>
              {choice.label}
              {choice.description && <span className="field-description">{choice.description}</span>}
            </span>
          </Radio>
        ))}
      </div>
      <Notes description={description} error={error ?? refusal} />
    </AriaRadioGroup>
  );
}

interface CheckboxesProps<Id> {
  /** The legend; hidden visually with `hideLabel`. */
  label: string;
  hideLabel?: boolean;
  className?: string;
  choices: readonly { id: Id; label: ReactNode; isDisabled?: boolean }[];
  value: readonly Id[];
  /** Called with the chosen ones in the order of the choices. */
  onChange: (ids: Id[]) => void;
  parameter?: string;
  children?: ReactNode;
}

/** Checkboxes of which any may be chosen. */
export function Checkboxes<Id extends string | number>({
  label,
  hideLabel = false,
  className = '',
  choices,
  value,
  onChange,
  parameter,
  children,
}: CheckboxesProps<Id>) {
  const refusal = useFieldError(parameter);
  const toggle = (toggled: Id, isChosen: boolean) =>
    onChange(choices.flatMap(({ id }) => ((id === toggled ? isChosen : value.includes(id)) ? id : [])));
  return (
    <fieldset className={`checkboxes field-group ${className}`}>
      <legend className={hideLabel ? 'hidden-text' : 'field-label'}>{label}</legend>
      {choices.map(({ id, label: text, isDisabled = false }) => (
        <Checkbox
          isDisabled={isDisabled}
          isSelected={value.includes(id)}
          key={id}
          onChange={(isChosen) => toggle(id, isChosen)}
        >
          {text}
        </Checkbox>
      ))}
      {children}
      {refusal !== null && (
        <p className="field-error" role="alert" tabIndex={-1}>
          {refusal}
        </p>
      )}
    </fieldset>
  );
}
