/** Forms drawn from the fields of the contract. A form defines the order of its fields and the exceptions. */
import { type ComponentProps, Fragment, type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { formFields } from '../../../contract/derived/form-fields.ts';
import type { FormField } from '../../../contract/form.ts';
import type { FieldTexts } from '../../../contract/thing.ts';
import type { Thing } from '../../../contract/things.ts';
import { request } from '../api/client.ts';
import { keepDraft, keptDraft } from '../api/drafts.ts';
import { useAction } from '../api/hooks.ts';
import { useConnections } from '../api/names.ts';
import { t } from '../texts/texts.ts';
import { Button, Notice } from './basics.tsx';
import { useConnectionOptions, usePreferredConnections } from './connection-status.tsx';
import { FormDialog } from './form-dialog.tsx';
import {
  answersOf,
  type Asks,
  changesOf,
  type Draft,
  draftOf,
  isLeftOut,
  isOfNone,
  isOfOther,
  isRequired,
  safeDraft,
  textsAt,
  type Value,
} from './draft.ts';
import { AreaField, CheckField, ChecksField, ChoiceField, RadioGroup, TextField } from './fields.tsx';
import { faultOf } from './faults.ts';
import { FolderField } from './folder-picker.tsx';
import type { TermName } from './term-popover.tsx';
import { LIKES } from './units.ts';

type Options = readonly (readonly [value: string, text: string])[];

/** Properties of a field that are not in the contract. */
interface Special {
  readonly label?: string;
  readonly hint?: string | undefined;
  readonly term?: TermName;
  readonly isRequired?: boolean;
  /** What is wrong with the input, apart from what the contract says. */
  readonly fault?: string | undefined;
  readonly isDisabled?: boolean;
  readonly isFirst?: boolean;
  readonly isRadio?: boolean;
  readonly type?: string;
  readonly placeholder?: string | undefined;
  /** Called while the user types. */
  readonly typing?: Partial<ComponentProps<typeof TextField>>;
  readonly options?: Options;
  /** The choices' codes are their labels, and the texts are hints. */
  readonly areNames?: boolean;
  /** Draws the field. */
  readonly draw?: () => ReactNode;
}
type Specials = Readonly<Record<string, Special | undefined>>;

export interface FormState {
  readonly fields: readonly FormField[];
  /** The input with defaults and adjustments, as it is sent. */
  readonly draft: Draft;
  readonly set: (to: Draft) => void;
  /** Drops the input, including the kept one. The values are those of `former`, or of the start. */
  readonly reset: () => void;
  /** Removes the kept input: it was sent. */
  readonly forget: () => void;
  /** Whether the input is that of an earlier visit. */
  readonly isRestored: boolean;
  readonly isReady: boolean;
  readonly isDirty: boolean;
  readonly asks: Asks;
  readonly textsOf: (name: string) => FieldTexts | undefined;
  /** The body of a request that creates an object. */
  readonly answers: () => Readonly<Record<string, unknown>>;
}

interface FormOptions {
  /** Keeps the input in this tab under this name, until it is sent or discarded. For new things. */
  readonly keepAs?: string | undefined;
  /** The stored object; absent for a new one. When it changes, fields without input follow. */
  readonly former?: object | undefined;
  /** Values that differ from the defaults and are not in `former`. For a new object they are read once. */
  readonly start?: Draft;
  /** Fields that the gateway defines instead of the contract, and their texts where the contract has none. */
  readonly fields?: readonly FormField[];
  readonly texts?: (name: string) => FieldTexts | undefined;
  /** Fields that another part of the screen sets. */
  readonly without?: readonly string[];
  /** Whether a field applies to the other answers. Other fields are not sent. */
  readonly asks?: (name: string, draft: Draft) => boolean;
  /** Adjusts values to the other answers. */
  readonly adjust?: (draft: Draft) => Draft;
}

const NOTHING_TYPED: Draft = {};

export function useForm(things: readonly Thing[], options: FormOptions): FormState {
  const { former, keepAs, without = [], adjust = (same) => same } = options;
  const known = options.fields ?? things.flatMap((thing) => formFields[thing]);
  const fields = known.filter(({ name }) => !without.includes(name));
  const [start] = useState(options.start);
  const [restored] = useState(() => (keepAs === undefined ? undefined : keptDraft(keepAs)));
  const [edits, setEdits] = useState(restored ?? NOTHING_TYPED);
  const typedText =
    keepAs === undefined || edits === NOTHING_TYPED ? undefined : JSON.stringify(safeDraft(known, edits));
  useEffect(() => {
    if (keepAs !== undefined) keepDraft(keepAs, typedText);
  }, [keepAs, typedText]);
  const first = { ...draftOf(fields, former), ...(former === undefined ? start : options.start) };
  const typed: Draft = { ...first, ...edits };
  const asksConnection = former === undefined && fields.some(({ name }) => name === 'connectionId');
  const firstConnection = usePreferredConnections(asksConnection)?.[0]?.id ?? '';
  // The connections and their statuses may arrive after the form is drawn.
  const chosen = typed['connectionId'] === '' ? { ...typed, connectionId: firstConnection } : typed;
  const draft = adjust(chosen);
  const asks = (name: string): boolean => options.asks?.(name, draft) ?? true;
  return {
    fields,
    draft,
    set: (to) => setEdits((before) => ({ ...before, ...to })),
    reset: () => setEdits(NOTHING_TYPED),
    forget: () => keepAs !== undefined && keepDraft(keepAs),
    isRestored: restored !== undefined && edits !== NOTHING_TYPED,
    isReady: fields.every((field) => isLeftOut(fields, field.name, draft, asks) || faultOf(field, draft) === undefined),
    isDirty: edits !== NOTHING_TYPED,
    asks,
    textsOf: (name) =>
      things.map((thing) => textsAt(thing, name)).find((texts) => texts !== undefined) ?? options.texts?.(name),
    answers: () => answersOf(fields, draft, asks),
  };
}

/** Says that the form has the input of an earlier visit. */
export function RestoredNotice({ form }: { readonly form: FormState }): ReactElement | null {
  if (!form.isRestored) return null;
  return (
    <Notice>
      <div className="row spread">
        {t.form.restored} <Button onClick={form.reset}>{t.form.discardDraft}</Button>
      </div>
    </Notice>
  );
}

/** Fields that are drawn together. */
interface FieldGroup {
  readonly names: readonly string[];
  /** One column. */
  readonly isPlain?: boolean;
  /** Folded under this title. */
  readonly title?: string;
  readonly isOpen?: boolean;
  /** A section of the form in two columns, visible or folded. */
  readonly section?: 'shown' | 'folded';
  /** Below the fields of a section. */
  readonly note?: ReactNode;
}

interface FieldsProps {
  readonly form: FormState;
  readonly groups: readonly FieldGroup[];
  readonly special?: Specials;
}

/** Fields without a group are in the last one, "More options". */
export function FormFields({ form, groups, special = {} }: FieldsProps): ReactElement {
  const { fields, draft, asks } = form;
  const isIn = (names: readonly string[], { name }: FormField): boolean =>
    names.includes(name) || names.includes(name.split('.')[0] ?? '');
  const rest = fields.filter((field) => !groups.some(({ names }) => isIn(names, field))).map(({ name }) => name);
  const more = { title: t.form.more, ...groups.find(({ title }) => title === t.form.more) };
  const last: FieldGroup = { ...more, names: [...(more.names ?? []), ...rest] };
  const all = [...groups.filter(({ title }) => title !== t.form.more), last];
  const drawn = (name: string): ReactElement[] => {
    const { draw } = special[name] ?? {};
    if (draw !== undefined) return [<Fragment key={name}>{draw()}</Fragment>];
    return fields
      .filter(
        (field) => isIn([name], field) && asks(field.name.split('.')[0] ?? '') && !isLater(fields, field.name, draft),
      )
      .map((field) => <DrawnField key={field.name} form={form} field={field} special={special[field.name]} />);
  };
  const inputOf = ({ key }: ReactElement): string => fields.find(({ name }) => name === key)?.input ?? '';
  const wide = (part: ReactElement) => (
    <div key={part.key} className="whole">
      {part}
    </div>
  );
  return (
    <>
      {all.map(({ names, isPlain = false, title, isOpen, section, note }) => {
        const parts = names.flatMap(drawn);
        const key = names.join();
        if (parts.length === 0) return null;
        if (section !== undefined) {
          const isFolded = section === 'folded';
          const [Box, Title] = isFolded ? (['details', 'summary'] as const) : (['section', 'h3'] as const);
          return (
            <Box key={title} className="form-section">
              <Title>{title}</Title>
              <div className="form-grid pairs">
                {parts.map((part) => (WIDE.includes(inputOf(part)) ? wide(part) : part))}
              </div>
              {note}
            </Box>
          );
        }
        if (title === undefined && isPlain) return <Fragment key={key}>{parts}</Fragment>;
        const body = isPlain ? (
          <div className="stack">{parts}</div>
        ) : (
          <div className="form-grid">{parts.map((part) => (inputOf(part) === 'long' ? wide(part) : part))}</div>
        );
        if (title === undefined) return <Fragment key={key}>{body}</Fragment>;
        return (
          <details key={key} open={isOpen}>
            <summary>{title}</summary>
            {body}
          </details>
        );
      })}
    </>
  );
}

/** Kinds of input that are as wide as their section. */
const WIDE: readonly string[] = ['flag', 'choice', 'lines', 'words', 'long'] satisfies FormField['input'][];

/** Whether the field waits for the first field of its object, or for another value of it. */
function isLater(fields: readonly FormField[], name: string, draft: Draft): boolean {
  const [of = ''] = name.split('.');
  if (isOfOther(fields, name, draft)) return true;
  return isOfNone(fields, name, draft) && fields.find((field) => field.name.startsWith(`${of}.`))?.name !== name;
}

function DrawnField(props: {
  readonly form: FormState;
  readonly field: FormField;
  readonly special: Special | undefined;
}) {
  const { form, field, special = {} } = props;
  const { name, input, isSecret, example, minimum, maximum, maxLength, choices = [] } = field;
  const { label = name, hint, choices: words = {} } = form.textsOf(name) ?? {};
  const { term, isDisabled, isFirst, isRadio = false, areNames = false, options } = special;
  const set = (value: Value): void => form.set({ [name]: value });
  const value = form.draft[name] ?? '';
  const text = typeof value === 'string' ? value : '';
  const list = typeof value === 'object' ? value : [];
  const isNeeded = special.isRequired ?? (isRequired(field) && !isOfNone(form.fields, name, form.draft));
  const hasSpaces = isSecret === true && input === 'secret' && text !== text.trim();
  const about = {
    label: special.label ?? label,
    hint: hasSpaces ? t.form.spaces : 'hint' in special ? special.hint : hint,
    term,
    fault: isDisabled === true ? undefined : (faultOf(field, form.draft, isNeeded) ?? special.fault),
  };
  const typing = {
    ...about,
    value: text,
    onText: set,
    maxLength,
    disabled: isDisabled,
    required: isNeeded,
    placeholder: special.placeholder ?? example,
    ...(isFirst === true ? { isFirst } : {}),
  };
  const named = options ?? choices.map((choice) => [choice, words[choice] ?? choice] as const);
  switch (input) {
    case 'flag':
      return (
        <CheckField
          label={about.label}
          hint={about.hint}
          term={term}
          checked={value === true}
          disabled={isDisabled}
          onCheck={set}
        />
      );
    case 'choice':
      return isRadio ? (
        <RadioGroup label={about.label} term={term} value={text} options={named} onValue={set} disabled={isDisabled} />
      ) : (
        <ChoiceField {...about} value={text} onText={set} disabled={isDisabled} options={named} />
      );
    case 'choices':
      return (
        <ChecksField
          {...about}
          options={named.map(([choice, word]) => (areNames ? [choice, choice, word] : [choice, word]))}
          chosen={list}
          onChoose={set}
        />
      );
    case 'lines':
    case 'words':
      return <AreaField rows={2} {...typing} maxLength={undefined} />;
    case 'long':
      return <AreaField rows={4} {...typing} />;
    case 'secret':
      return <TextField {...typing} type="password" autoComplete="new-password" />;
    case 'bytes':
    case 'age':
      return <TextField {...typing} placeholder={typing.placeholder ?? LIKES[input][1]} />;
    case 'number':
      return <TextField {...special.typing} {...typing} type={special.type ?? 'number'} min={minimum} max={maximum} />;
    case 'date-time':
      return <TextField {...typing} type="datetime-local" />;
    case 'connection':
      return (
        <ConnectionChoice
          {...about}
          value={text}
          onText={set}
          disabled={isDisabled}
          isOptional={name.includes('.') && special.isRequired !== true}
        />
      );
    case 'connections':
      return <ConnectionChoices {...about} chosen={list} onChoose={set} />;
    case 'folder':
      return (
        <FolderField {...typing} connectionId={String(form.draft[name.replace(/[^.]+$/, 'connectionId')] ?? '')} />
      );
    case 'url':
      return <TextField {...typing} type="url" />;
    case 'text':
      if (options !== undefined) return <ChoiceField {...about} value={text} onText={set} options={options} />;
      return <TextField {...special.typing} {...typing} type={special.type ?? 'text'} />;
  }
}

function ConnectionChoice(props: {
  readonly label: string;
  readonly hint: string | undefined;
  readonly term: TermName | undefined;
  readonly fault: string | undefined;
  readonly value: string;
  readonly onText: (id: string) => void;
  readonly disabled: boolean | undefined;
  readonly isOptional: boolean;
}): ReactElement {
  const { isOptional, ...field } = props;
  const connections = useConnections();
  const known = useConnectionOptions()(connections.filter(({ isActive }) => isActive));
  // The connection is inactive or deleted. It stays visible, so that the user can change it.
  const isMissing = field.value !== '' && !known.some(([id]) => id === field.value);
  const name = connections.find(({ id }) => id === field.value)?.name ?? field.value;
  const missing = isMissing ? [[field.value, t.form.notActive(name)] as const] : [];
  const none = isOptional ? [['', t.form.nowhere] as const] : [];
  return <ChoiceField {...field} options={[...none, ...known, ...missing]} />;
}

export function ConnectionChoices(props: {
  readonly label: string;
  readonly hint: string | undefined;
  readonly term?: TermName | undefined;
  readonly isLabelHidden?: boolean;
  readonly fault?: string | undefined;
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}): ReactElement | null {
  const known = useConnectionOptions()(useConnections());
  const missing = props.chosen.filter((id) => !known.some(([one]) => one === id)).map((id) => [id, id] as const);
  const options = [...known, ...missing];
  return options.length === 0 ? null : <ChecksField {...props} options={options} />;
}

/** A dialog that creates or edits an object. */
export function ThingDialog<R>(
  props: FieldsProps & {
    readonly former?: { readonly id: string } | undefined;
    /** The address of the collection; each object is at its id below. */
    readonly at: string;
    readonly refreshes?: readonly string[];
    readonly title: string;
    readonly verb: string;
    readonly says?: string | undefined;
    readonly answers?: () => object;
    readonly onDone: (answer: R) => void;
    readonly onClose: () => void;
  },
): ReactElement {
  const { form, groups, special, former, at, refreshes = [at], title, verb, says, onDone, onClose } = props;
  const done = (answer: R): void => {
    form.forget();
    onDone(answer);
  };
  const save = useAction(
    () =>
      (former === undefined
        ? request('POST', at, props.answers?.() ?? form.answers())
        : request('PATCH', `${at}/${former.id}`, changesOf(form.fields, form.draft, former, form.asks))) as Promise<R>,
    { refreshes, showsError: true, onDone: done, ...(says === undefined ? {} : { says }) },
  );
  return (
    <FormDialog
      title={title}
      verb={verb}
      size="medium"
      keepsOpen
      isBusy={save.isPending}
      isDirty={form.isDirty}
      error={save.error}
      onClose={() => {
        form.forget();
        onClose();
      }}
      onSend={() => save.mutate(undefined)}
    >
      <RestoredNotice form={form} />
      <FormFields form={form} groups={groups} {...(special === undefined ? {} : { special })} />
    </FormDialog>
  );
}
