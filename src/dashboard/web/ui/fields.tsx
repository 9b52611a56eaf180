/** Form fields. Label, hint and error are tied to the input. */
import {
  createContext,
  useContext,
  useId,
  useState,
  type FocusEvent,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';
import { t } from '../texts/texts.ts';
import { Term } from './term.tsx';
import type { TermName } from './term-popover.tsx';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the input. In a CheckedForm it is shown once the field was left, or the form was sent. */
  readonly fault?: string | undefined;
  readonly isLabelHidden?: boolean;
  /** A button beside the label explains this term. */
  readonly term?: TermName | undefined;
}

/** The properties of an input that can show that it is wrong. */
export type FieldInput = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'value' | 'required' | 'type' | 'min' | 'max' | 'minLength'
>;

/** The checks of the surrounding form; none outside of a CheckedForm. */
export const Checks = createContext<
  { readonly isSent: boolean; readonly faultOf: (input: FieldInput) => string | undefined } | undefined
>(undefined);

interface Described {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** The fault to show. `check` finds it for inputs that give none. */
function useFault(fault: string | undefined, input: FieldInput = {}) {
  const checks = useContext(Checks);
  const [isLeft, setLeft] = useState(false);
  const found = checks && (fault ?? checks.faultOf(input));
  return {
    // A file is chosen whole: there is no typing to wait for.
    error: checks?.isSent === true || isLeft || (input.type === 'file' && fault !== undefined) ? found : undefined,
    frame: {
      'data-fault': found === undefined ? undefined : '',
      onBlur: ({ target, relatedTarget }: FocusEvent) => {
        // A line that appears under a pressed button would move the button away.
        if (!(target instanceof HTMLButtonElement || relatedTarget instanceof HTMLButtonElement)) setLeft(true);
      },
    },
  };
}

/** Is read out when it changes. */
function FieldError({ id, error }: { readonly id: string; readonly error: string | undefined }): ReactElement {
  return (
    <p id={id} className="field-error" aria-live="polite">
      {error}
    </p>
  );
}

function Field(
  props: FieldProps & {
    readonly children: (described: Described) => ReactNode;
    readonly isRequired: boolean;
    readonly input?: FieldInput;
  },
): ReactElement {
  const id = useId();
  const { label, hint, isLabelHidden = false, term, isRequired, children } = props;
  const { error, frame } = useFault(props.fault, props.input);
  const notes = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="field" {...frame}>
      <div className={isLabelHidden ? 'visually-hidden' : 'field-head'}>
        <label htmlFor={id}>
          {label}
          {isRequired && !isLabelHidden && (
            <span className="required" aria-hidden>
              {t.common.required}
            </span>
          )}
        </label>
        {term !== undefined && <Term of={term} />}
      </div>
      {children({
        id,
        ...(notes === '' ? {} : { 'aria-describedby': notes }),
        ...(error === undefined ? {} : { 'aria-invalid': true }),
      })}
      <FieldError id={`${id}-error`} error={error} />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Separates the props of the frame from those of the input. */
function parted<P extends FieldProps>({ label, hint, fault, isLabelHidden, term, ...own }: P) {
  return { field: { label, hint, fault, isLabelHidden, term }, own };
}

interface Typed {
  readonly onText?: (text: string) => void;
}

type InputProps = FieldProps &
  Typed &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
    /** Has the focus when its dialog opens. */
    readonly isFirst?: boolean;
  };

export function TextField({ onText, isFirst, ...props }: InputProps): ReactElement {
  const { field, own } = parted(props);
  return (
    <Field {...field} isRequired={props.required === true} input={props}>
      {(described) => (
        <input
          type="text"
          autoComplete="off"
          spellCheck={false}
          {...(isFirst === true ? { 'data-autofocus': true } : {})}
          {...own}
          {...described}
          onChange={(event) => onText?.(event.target.value)}
        />
      )}
    </Field>
  );
}

type AreaProps = FieldProps & Typed & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'>;

export function AreaField({ onText, ...props }: AreaProps): ReactElement {
  const { field, own } = parted(props);
  return (
    <Field {...field} isRequired={props.required === true} input={{ value: props.value, required: props.required }}>
      {(described) => (
        <textarea
          rows={4}
          spellCheck={false}
          autoComplete="off"
          {...own}
          {...described}
          onChange={(event) => onText?.(event.target.value)}
        />
      )}
    </Field>
  );
}

type ChoiceProps = FieldProps &
  Typed &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> & {
    readonly options: readonly (readonly [value: string, text: string])[];
  };

export function ChoiceField({ options, onText, ...props }: ChoiceProps): ReactElement {
  const { field, own } = parted(props);
  return (
    <Field {...field} isRequired={false} input={{ value: props.value, required: props.required }}>
      {(described) => (
        <select {...own} {...described} onChange={(event) => onText?.(event.target.value)}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField(props: {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly term?: TermName | undefined;
  readonly checked: boolean;
  readonly disabled?: boolean | undefined;
  readonly isWrong?: boolean;
  readonly onCheck: (isChecked: boolean) => void;
}): ReactElement {
  const id = useId();
  const { label, hint, term, checked, disabled, isWrong, onCheck } = props;
  return (
    <div className="check-field">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-invalid={isWrong}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onCheck(event.target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label> {term !== undefined && <Term of={term} />}
        {hint !== undefined && (
          <p id={`${id}-hint`} className="hint">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

/** Check boxes, of which any number may be chosen. */
export function ChecksField<V extends string>(props: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly term?: TermName | undefined;
  readonly isLabelHidden?: boolean;
  readonly fault?: string | undefined;
  readonly options: readonly (readonly [value: V, text: string, hint?: string | undefined])[];
  readonly chosen: readonly V[];
  readonly onChoose: (chosen: readonly V[]) => void;
}): ReactElement {
  const { label, hint, term, isLabelHidden = false, options, chosen, onChoose } = props;
  const id = useId();
  const { error, frame } = useFault(props.fault);
  return (
    <fieldset {...frame} className="plain-fieldset stack tight" aria-describedby={error === undefined ? undefined : id}>
      <legend className={isLabelHidden ? 'visually-hidden' : 'field-label'}>
        {label} {term !== undefined && <Term of={term} />}
      </legend>
      {options.map(([value, text, about]) => (
        <CheckField
          key={value}
          label={text}
          hint={about}
          isWrong={error !== undefined}
          checked={chosen.includes(value)}
          onCheck={(isOn) => onChoose(isOn ? [...chosen, value] : chosen.filter((one) => one !== value))}
        />
      ))}
      <FieldError id={id} error={error} />
      {hint !== undefined && <p className="hint">{hint}</p>}
    </fieldset>
  );
}

/** A few choices, all visible, of which one is chosen. */
export function RadioGroup<V extends string>(props: {
  readonly label: string;
  readonly term?: TermName | undefined;
  readonly value: V;
  readonly options: readonly (readonly [value: V, text: string])[];
  readonly onValue: (value: V) => void;
  readonly disabled?: boolean;
}): ReactElement {
  const name = useId();
  return (
    <fieldset className="radio-group" disabled={props.disabled}>
      <legend>
        {props.label} {props.term !== undefined && <Term of={props.term} />}
      </legend>
      <div>
        {props.options.map(([value, text]) => (
          <label key={value}>
            <input
              type="radio"
              name={name}
              value={value}
              checked={props.value === value}
              onChange={() => props.onValue(value)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
