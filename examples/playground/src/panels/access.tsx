/**
 * The access panel: whether a user may do something, the rule that allows it, and a matrix of all permissions.
 */
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import {
  type AccessDecision,
  accessMatrix,
  checkAccess,
  userWithDefaultGroups,
  VERBS,
} from '../access/check-access.js';
import { type Session, useSession } from '../session/session.js';
import type { SessionState } from '../session/types.js';
import type { Panel, PanelProps } from './panel.js';

/** The kinds that the matrix shows by default. */
const COMMON_RESOURCES = [
  'pods',
  'deployments',
  'services',
  'configmaps',
  'secrets',
  'serviceaccounts',
  'roles',
  'rolebindings',
  'nodes',
  'namespaces',
];

function AccessPanel({ session }: PanelProps) {
  const state = useSession(session, (each) => each);
  const [name, setName] = useState('alice');
  const [groups, setGroups] = useState('developers');
  const [verb, setVerb] = useState('list');
  const [resource, setResource] = useState('pods');
  const [namespace, setNamespace] = useState('default');
  const user = useMemo(
    () => userWithDefaultGroups(name.trim() || 'system:anonymous', groups.split(/[\s,]+/)),
    [name, groups],
  );
  const [type = '', subresource = ''] = resource.split('/');
  const kind = state.kinds.find(({ gvr }) => gvr.resource === type);
  const answer = checkAccess(state.cluster, {
    user: user,
    verb,
    group: kind?.gvr.group ?? '',
    resource: type,
    subresource,
    namespace: kind?.namespaced === false ? '' : namespace,
  });
  return (
    <div class="access">
      <form class="access-question" onSubmit={(event) => event.preventDefault()}>
        <Field label="User">
          <input
            id="access-user"
            list="access-users"
            value={name}
            onInput={(event) => {
              const chosen = event.currentTarget.value;
              setName(chosen);
              const known = state.users.find((each) => each.user === chosen);
              if (known !== undefined) setGroups((known.groups ?? []).join(', '));
              else if (chosen.startsWith('system:serviceaccount:')) setGroups('');
            }}
          />
          <datalist id="access-users">
            {knownUsers(state).map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </Field>
        <Field label="Groups">
          <input id="access-groups" value={groups} onInput={(event) => setGroups(event.currentTarget.value)} />
        </Field>
        <Field label="Verb">
          <select id="access-verb" value={verb} onChange={(event) => setVerb(event.currentTarget.value)}>
            {[...VERBS, 'impersonate', 'escalate', 'bind'].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
        <Field label="Resource">
          <input
            id="access-resource"
            list="access-resources"
            value={resource}
            onInput={(event) => setResource(event.currentTarget.value.trim())}
          />
          <datalist id="access-resources">
            {state.kinds.map(({ gvr }) => (
              <option key={`${gvr.group}/${gvr.resource}`} value={gvr.resource} />
            ))}
          </datalist>
        </Field>
        <Field label="Namespace">
          <select id="access-namespace" value={namespace} onChange={(event) => setNamespace(event.currentTarget.value)}>
            <option value="">all namespaces</option>
            {[...new Set([namespace, ...namesOf(state, 'Namespace')])].filter(Boolean).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
        <button type="button" onClick={() => session.setUser(user)} disabled={state.user.user === user.user}>
          {state.user.user === user.user ? `You are ${user.user}` : `Switch to ${user.user}`}
        </button>
        <Decision answer={answer} isKnown={kind !== undefined} />
      </form>
      <Matrix
        session={session}
        user={user}
        namespace={namespace}
        choose={(chosenVerb, chosenResource) => {
          setVerb(chosenVerb);
          setResource(chosenResource);
        }}
      />
    </div>
  );
}

function Field({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

function Decision({ answer, isKnown }: { readonly answer: AccessDecision; readonly isKnown: boolean }) {
  const { isAllowed, reason, grant } = answer;
  return (
    <output id="access-decision" class={`access-decision ${isAllowed ? 'good' : 'bad'}`} aria-live="polite">
      <b>{isAllowed ? 'Yes' : 'No'}</b>
      {!isKnown && <p>The cluster serves no resource of this name, but rules can refer to it.</p>}
      {grant === undefined ? (
        <p>{reason || 'No role of this user allows it.'}</p>
      ) : (
        <>
          <p>
            {`${grant.subject.kind} ${grant.subject.name} has the ${grant.role.kind} `}
            <b>{grant.role.name}</b>
            {` by the ${grant.binding.kind} `}
            <b>{grant.binding.name}</b>
            {grant.binding.namespace === undefined ? '.' : ` in ${grant.binding.namespace}.`}
          </p>
          {grant.rule !== undefined && (
            <pre>
              {Object.entries(grant.rule)
                .map(
                  ([key, values]) =>
                    `${key}: [${(values as readonly string[]).map((each) => each || '""').join(', ')}]`,
                )
                .join('\n')}
            </pre>
          )}
        </>
      )}
    </output>
  );
}

interface MatrixProps {
  readonly session: Session;
  readonly user: ReturnType<typeof userWithDefaultGroups>;
  readonly namespace: string;
  readonly choose: (verb: string, resource: string) => void;
}

function Matrix({ session, user, namespace, choose }: MatrixProps) {
  const [showsAll, setShowsAll] = useState(false);
  const { cluster, kinds, objects } = useSession(session, (state) => state);
  const rows = useMemo(() => {
    const shown = showsAll ? kinds : kinds.filter(({ gvr }) => COMMON_RESOURCES.includes(gvr.resource));
    const sorted = [...shown].sort((left, right) => order(left.gvr.resource) - order(right.gvr.resource));
    return accessMatrix(cluster, sorted, user, namespace);
    // Roles and bindings are objects, so any change can change the result.
  }, [cluster, kinds, objects, user, namespace, showsAll]);
  return (
    <div class="matrix">
      <table>
        <thead>
          <tr>
            <th scope="col">
              <label class="switch">
                <input
                  type="checkbox"
                  checked={showsAll}
                  onChange={(event) => setShowsAll(event.currentTarget.checked)}
                />
                <span>all kinds</span>
              </label>
            </th>
            {VERBS.map((verb) => (
              <th scope="col" key={verb}>
                {verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ kind: { gvr }, cells }) => (
            <tr key={`${gvr.group}/${gvr.resource}`}>
              <th scope="row">
                {gvr.resource}
                {gvr.group !== '' && <small>{gvr.group}</small>}
              </th>
              {VERBS.map((verb, index) => (
                <td key={verb}>
                  <Cell
                    isAllowed={cells[index]}
                    what={`${verb} ${gvr.resource}`}
                    choose={() => choose(verb, gvr.resource)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps {
  readonly isAllowed: boolean | undefined;
  readonly what: string;
  readonly choose: () => void;
}

function Cell({ isAllowed, what, choose }: CellProps) {
  if (isAllowed === undefined) return <span class="muted">·</span>;
  return (
    <button
      type="button"
      class={`cell ${isAllowed ? 'good' : 'bad'}`}
      aria-label={`${what}: ${isAllowed ? 'yes' : 'no'}`}
      onClick={choose}
    >
      {isAllowed ? '✓' : '–'}
    </button>
  );
}

function order(resource: string): number {
  const at = COMMON_RESOURCES.indexOf(resource);
  return at < 0 ? COMMON_RESOURCES.length : at;
}

function namesOf({ objects }: SessionState, kind: string): readonly string[] {
  return [...objects.values()]
    .filter((object) => object.kind === kind)
    .map(({ metadata }) => metadata.name)
    .sort();
}

function knownUsers(state: SessionState): readonly string[] {
  const accounts = [...state.objects.values()]
    .filter(({ kind }) => kind === 'ServiceAccount')
    .map(({ metadata }) => `system:serviceaccount:${metadata.namespace}:${metadata.name}`);
  return [...state.users.map(({ user }) => user), ...accounts, 'system:anonymous'];
}

export const accessPanel: Panel = { id: 'access', title: 'Access', Panel: AccessPanel };
