/** Types of the client: what it returns, and what must not compile. Files with this suffix are only compiled. */
import { expectTypeOf } from 'vitest';
import * as z from 'zod';
import type { Api, ApplyInputOf } from '../../src/client/api.js';
import type { Client } from '../../src/client/client.js';
import type { ApplyPlan, FieldChange } from '../../src/client/explain/apply-plan.js';
import type { Ownership } from '../../src/client/explain/ownership.js';
import type { InformerEvent } from '../../src/client/informer.js';
import { jsonPatch, mergePatch, strategicPatch } from '../../src/client/patches.js';
import { defineKind } from '../../src/kinds/define-kind.js';
import { Deployment, Node } from '../../src/kinds/index.js';
import type { Kind, ObjectOf } from '../../src/kinds/kind.js';
import type {
  ApiList,
  ApiObject,
  ClusterObject,
  DeepReadonly,
  InputBase,
  NamespacedObject,
  ObjectMetaInput,
} from '../../src/meta/object.js';
import type { Status } from '../../src/meta/status.js';

interface Widget extends NamespacedObject<'Widget'> {
  spec: { size: 's' | 'm' | 'l'; parts: string[]; holes: { name: string; wide: boolean }[] };
  status?: { ready: boolean };
}
interface WidgetInput extends InputBase {
  spec: { size?: 's' | 'm' | 'l'; parts: string[]; holes?: { name: string; wide?: boolean }[] };
  status?: { ready: boolean };
}
interface Rack extends ClusterObject<'Rack'> {
  height: number;
}
interface RackInput extends InputBase {
  height: number;
}

declare const Widget: Kind<Widget, WidgetInput, 'Namespaced', 'status' | 'finalize'>;
declare const Rack: Kind<Rack, RackInput, 'Cluster', never>;
declare const Dynamic: Kind<ApiObject, { metadata: ObjectMetaInput; [field: string]: unknown }>;
declare const client: Client;

const widgets = client.api(Widget);
const racks = client.api(Rack);

// Scope
client.api(Widget, 'kube-system');
client.api(Dynamic, 'somewhere');
// @ts-expect-error a cluster-scoped kind takes no namespace
client.api(Rack, 'default');
// @ts-expect-error a kind is a value
client.api('Widget');
// @ts-expect-error reading one object requires a namespace
client.all(Widget).get('w');
// @ts-expect-error the transport cannot be changed
client.with({ transport: undefined });

// Results
expectTypeOf(await widgets.get('w')).toEqualTypeOf<DeepReadonly<Widget>>();
expectTypeOf(await widgets.find('w')).toEqualTypeOf<DeepReadonly<Widget> | undefined>();
expectTypeOf(await widgets.list()).toEqualTypeOf<ApiList<DeepReadonly<Widget>>>();
expectTypeOf(await widgets.delete('w')).toEqualTypeOf<DeepReadonly<Widget> | Status>();
expectTypeOf((await widgets.get('w')).spec.size).toEqualTypeOf<'s' | 'm' | 'l'>();
expectTypeOf((await racks.get('r')).height).toEqualTypeOf<number>();
for await (const page of client.all(Widget).pages()) expectTypeOf(page).toEqualTypeOf<ApiList<DeepReadonly<Widget>>>();
for await (const item of client.all(Widget).items({ pageSize: 5 }))
  expectTypeOf(item).toEqualTypeOf<DeepReadonly<Widget>>();
// @ts-expect-error objects that were read are read-only
(await widgets.get('w')).spec.size = 'l';
// @ts-expect-error nested values are read-only
(await widgets.get('w')).spec.parts.push('bolt');

// The namespace of an object that was read
expectTypeOf((await widgets.get('w')).metadata.namespace).toEqualTypeOf<string>();
expectTypeOf((await widgets.list()).items[0]?.metadata.namespace).toEqualTypeOf<string | undefined>();
expectTypeOf((await client.api(Deployment).get('d')).metadata.namespace).toEqualTypeOf<string>();
expectTypeOf((await racks.get('r')).metadata.namespace).toEqualTypeOf<undefined>();
expectTypeOf((await client.api(Node).get('n')).metadata.namespace).toEqualTypeOf<undefined>();
expectTypeOf((await client.api(Dynamic).get('d')).metadata.namespace).toEqualTypeOf<string | undefined>();
await widgets.edit('w', (draft) => {
  expectTypeOf(draft.metadata.namespace).toEqualTypeOf<string>();
});
// The namespace is optional in an input.
await client.api(Deployment).apply({ metadata: { name: 'd' } });
// @ts-expect-error an object of a cluster-scoped kind has no namespace
(await racks.get('r')).metadata.namespace.length;

// The result of delete
const deleted = await client.api(Deployment).delete('d');
if (deleted.kind === 'Status') expectTypeOf(deleted).toEqualTypeOf<Status>();
else expectTypeOf(deleted).toEqualTypeOf<ObjectOf<typeof Deployment>>();
const deletedWidget = await widgets.delete('w');
if (deletedWidget.kind === 'Widget') expectTypeOf(deletedWidget.spec.size).toEqualTypeOf<'s' | 'm' | 'l'>();
else expectTypeOf(deletedWidget.code).toEqualTypeOf<number | undefined>();
// @ts-expect-error a Status has no spec
deleted.spec;
// @ts-expect-error no other kind of object is returned
deleted.kind === 'Pod';

// Inputs
await widgets.create({ metadata: { generateName: 'w-' }, spec: { parts: [] } });
const read = await widgets.get('w');
await widgets.update(read);
await widgets.update({ ...read, spec: { ...read.spec, size: 's' } });
// @ts-expect-error an unknown field
await widgets.create({ metadata: {}, spek: { parts: [] } });
// @ts-expect-error an unknown nested field
await widgets.create({ metadata: {}, spec: { parts: [], colour: 'red' } });
// @ts-expect-error not a valid size
await widgets.create({ metadata: {}, spec: { parts: [], size: 'xl' } });
// @ts-expect-error a required field is missing
await widgets.create({ metadata: { name: 'w' } });
// @ts-expect-error an update requires the name of its object
await widgets.update({ metadata: {}, spec: { parts: [] } });
// @ts-expect-error an unknown propagation policy
await widgets.delete('w', { propagation: 'Sideways' });
// @ts-expect-error an unknown fieldValidation
await widgets.create({ metadata: {}, spec: { parts: [] } }, { fieldValidation: 'Loose' });

// Recipes
await widgets.edit('w', (draft) => {
  expectTypeOf(draft).toEqualTypeOf<Widget>();
  draft.spec.parts.push('bolt');
});
await widgets.edit('w', (draft) => {
  // @ts-expect-error not a valid size
  draft.spec.size = 'xl';
});

// Drafts take the input type: parts may be assigned without the fields that the server fills in.
await client.api(Deployment).edit('d', (draft) => {
  draft.spec.template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'web:1' }] },
  };
  draft.spec.template.spec.containers.push({ name: 'log', image: 'log:1', livenessProbe: { httpGet: { port: 80 } } });
  draft.spec.template.spec.volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
  draft.spec.strategy = { type: 'Recreate' };
  // What every object has is read without a test.
  expectTypeOf(draft.spec.replicas).toEqualTypeOf<number>();
  expectTypeOf(draft.spec.template.spec.restartPolicy).toEqualTypeOf<'Always' | 'Never' | 'OnFailure'>();
  draft.spec.replicas += 1;
  for (const container of draft.spec.template.spec.containers) container.image = 'web:2';
  // @ts-expect-error an unknown field
  draft.spec.strategy = { type: 'Recreate', speed: 1 };
  // @ts-expect-error the containers are missing
  draft.spec.template = { spec: {} };
});
const Site = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  scope: 'Cluster',
  body: {
    spec: z.object({
      pages: z.array(z.object({ path: z.string(), title: z.string().default('') })).default([]),
      theme: z.enum(['light', 'dark']).default('light'),
      owner: z.string(),
    }),
    status: z.object({ published: z.number() }).optional(),
  },
});
await client.api(Site).edit('s', (draft) => {
  draft.spec = { owner: 'me' };
  draft.spec.pages = [{ path: '/' }];
  draft.spec.pages.push({ path: '/about' });
  draft.status = { published: 1 };
  expectTypeOf(draft.kind).toEqualTypeOf<'Site'>();
  expectTypeOf(draft.spec.theme).toEqualTypeOf<'light' | 'dark'>();
  // @ts-expect-error the owner is missing
  draft.spec = { theme: 'dark' };
  // @ts-expect-error not a theme
  draft.spec.theme = 'blue';
});
expectTypeOf((await client.api(Site).get('s')).spec.pages).toEqualTypeOf<
  readonly { readonly path: string; readonly title: string }[]
>();

// Patches
await widgets.patch(
  'w',
  mergePatch({ spec: { size: 's' }, metadata: { labels: { a: 'b', old: null } }, status: null }),
);
await widgets.patch('w', strategicPatch({ spec: { holes: [{ name: 'h', $patch: 'delete' }] } }));
await widgets.patch(
  'w',
  strategicPatch({ spec: { $retainKeys: ['size'], '$setElementOrder/holes': [{ name: 'h' }] } }),
);
await widgets.patch(
  'w',
  strategicPatch({
    metadata: { labels: { $patch: 'replace', a: 'b' }, '$deleteFromPrimitiveList/finalizers': ['example.com/wait'] },
    spec: { holes: [{ $patch: 'replace' }, { name: 'h' }] },
  }),
);
await widgets.patch('w', jsonPatch([{ op: 'move', from: '/spec/a', path: '/spec/b' }]));
const forLater = mergePatch<WidgetInput>({ spec: { size: 's' } });
await widgets.patch('w', forLater);
// @ts-expect-error a wrong enum value
await widgets.patch('w', mergePatch({ spec: { size: 'xl' } }));
// @ts-expect-error an unknown field
await widgets.patch('w', mergePatch({ spec: { size: 's', colour: 'red' } }));
// @ts-expect-error an unknown field in an item
await widgets.patch('w', strategicPatch({ spec: { holes: [{ name: 'h', deep: true }] } }));
// @ts-expect-error every server rejects this operation
await widgets.patch('w', strategicPatch({ spec: { $patch: 'merge' } }));
// @ts-expect-error an unknown operation
await widgets.patch('w', jsonPatch([{ op: 'increment', path: '/spec/a' }]));
// @ts-expect-error a patch of another kind
await racks.patch('r', forLater);
// @ts-expect-error a plain object has no patch type
await widgets.patch('w', { spec: { size: 's' } });

// Subresources
expectTypeOf(await widgets.status.get('w')).toEqualTypeOf<DeepReadonly<Widget>>();
await widgets.subresource('finalize').update('w', read);
// @ts-expect-error not a subresource of Widget
widgets.subresource('eviction');
// @ts-expect-error Rack declares no status
racks.status;
// @ts-expect-error Rack has no subresources
racks.subresource('status');

// Watches
for await (const event of widgets.watch({ labels: { app: 'web' }, fields: 'metadata.name=w' })) {
  if (event.type === 'BOOKMARK') expectTypeOf(event.object.metadata.resourceVersion).toEqualTypeOf<string>();
  else expectTypeOf(event.object).toEqualTypeOf<DeepReadonly<Widget>>();
  // @ts-expect-error an ERROR event is thrown
  if (event.type === 'ERROR') break;
}

// Informers
const informer = client.all(Widget).informer({
  indexes: { part: (widget) => widget.spec.parts, size: (widget) => [widget.spec.size] },
});
expectTypeOf(informer.by('part', 'bolt')).toEqualTypeOf<readonly DeepReadonly<Widget>[]>();
expectTypeOf(informer.get('w', 'default')).toEqualTypeOf<DeepReadonly<Widget> | undefined>();
informer.subscribe((event) => expectTypeOf(event).toEqualTypeOf<InformerEvent<DeepReadonly<Widget>>>());
// @ts-expect-error an unknown index
informer.by('colour', 'red');
// @ts-expect-error the informer has no index
widgets.informer().by('part', 'bolt');
// @ts-expect-error an index function receives objects of the kind
widgets.informer({ indexes: { colour: (widget) => [widget.spec.colour] } });

// Waiting
expectTypeOf(await widgets.waitFor('w', (w) => w === undefined || w.status?.ready === true)).toEqualTypeOf<
  DeepReadonly<Widget> | undefined
>();
expectTypeOf(await widgets.waitFor('w', (w) => w !== undefined)).toEqualTypeOf<DeepReadonly<Widget>>();
expectTypeOf(await widgets.waitFor('w', (w) => w === undefined)).toEqualTypeOf<undefined>();

// Kinds known only at run time
expectTypeOf((await client.api(Dynamic).get('d'))['spec']).toEqualTypeOf<unknown>();
await client.api(Dynamic).create({ metadata: { name: 'd' }, spec: { anything: 1 } });
client.api(Dynamic).subresource('anything');

// Code that is generic over kinds knows the members that every object has.
export function nameOf<AnyKind extends Kind>(_api: Api<AnyKind>, object: ObjectOf<AnyKind>): string {
  return object.metadata.name;
}
export async function labelAll<AnyKind extends Kind>(api: Api<AnyKind>, label: string): Promise<string[]> {
  const { items } = await api.list();
  for (const { metadata } of items) {
    await api.edit(metadata.name, (draft) => {
      draft.metadata.labels = { ...draft.metadata.labels, [label]: draft.kind };
    });
  }
  for (const item of items) {
    // @ts-expect-error not every object has a spec
    item.spec;
    // @ts-expect-error objects that were read are read-only
    item.metadata.name = 'x';
  }
  return items.map((item) => `${item.kind} ${item.metadata.namespace ?? ''} ${nameOf(api, item)}`);
}
nameOf(widgets, read);
nameOf(client.api(Deployment), await client.api(Deployment).get('d'));
// @ts-expect-error an object of another kind
nameOf(widgets, await racks.get('r'));
export async function count<AnyKind extends Kind>(kind: AnyKind): Promise<number> {
  const { items } = await client.all(kind).list({ limit: 1 });
  return items.length;
}

// Apply
widgets.apply({ metadata: { name: 'w' }, spec: { holes: [{ name: 'top' }] } }, { force: true });
expectTypeOf(widgets.apply({ metadata: { name: 'w' } })).resolves.toEqualTypeOf<DeepReadonly<Widget>>();
widgets.status.apply('w', { status: { ready: true } }, { fieldManager: 'controller' });
// @ts-expect-error an apply configuration requires a name
widgets.apply({ metadata: { labels: {} } });
// @ts-expect-error an unknown field
widgets.apply({ metadata: { name: 'w' }, spek: {} });
// @ts-expect-error a wrong nested value
widgets.apply({ metadata: { name: 'w' }, spec: { holes: [{ name: 1 }] } });
// @ts-expect-error an object that was read is not an apply configuration
widgets.apply(await widgets.get('w'));
// The configuration type has a name for return types, and parts of an object that was read can be sent.
declare const built: ApplyInputOf<typeof Deployment>;
client.api(Deployment).apply(built);
const { template } = (await client.api(Deployment).get('d')).spec;
client.api(Deployment).apply({ metadata: { name: 'd' }, spec: { template } });
// @ts-expect-error only apply can be forced
widgets.patch('w', mergePatch({}), { force: true });

// Explain
expectTypeOf(widgets.explain('w')).resolves.toEqualTypeOf<Ownership>();
expectTypeOf(widgets.explain({ metadata: { name: 'w' } }, { force: true })).resolves.toEqualTypeOf<
  ApplyPlan<DeepReadonly<Widget>>
>();
expectTypeOf<ApplyPlan['fields'][number]['change']>().toEqualTypeOf<FieldChange>();
// @ts-expect-error explanations are read-only
(await widgets.explain('w')).fields[0].owners = [];
