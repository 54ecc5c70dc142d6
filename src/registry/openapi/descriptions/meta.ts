/**
 * What the types that all groups share are for. The notation is read by `../describe.ts`: a type begins a line, its
 * fields follow with a space in front; `*` stands for every type that has nothing better to say.
 */
export const metaDescriptions = `
ObjectMeta What every object has: its name, its place and its history.
 name The name, unique among objects of the kind in its namespace. It cannot be changed.
 generateName A prefix from which the server makes a unique name when name is empty.
 namespace The namespace in which the name is unique; empty for objects of the whole cluster.
 selfLink Not set any more.
 uid Tells the object from all others that ever had its name. Set by the server.
 resourceVersion Changes with every write; a write that names it fails when somebody else was faster.
 generation Counts the changes of what is wanted. Set by the server.
 creationTimestamp When the object was created. Set by the server.
 deletionTimestamp When the object was, or is going to be, deleted. Set by the server.
 deletionGracePeriodSeconds How long the object may take to end after its deletion.
 labels Short values to select and to group objects by.
 annotations Values of any form for tools and people; nothing is selected by them.
 ownerReferences Objects on which this one depends: it goes when the last of them is gone.
 finalizers Who must be done with the object before it can disappear.
 managedFields Which manager set which fields, kept for apply.
OwnerReference An object that owns the one with this reference, in the same namespace or of the whole cluster.
 apiVersion The group and version of the owner.
 kind The kind of the owner.
 name The name of the owner.
 uid The uid of the owner.
 controller True for the one owner that manages the object.
 blockOwnerDeletion True if a deletion of the owner in the foreground waits for this object.
ManagedFieldsEntry The fields that one manager set in one way.
 manager The name of the manager.
 operation How it set them: Apply or Update.
 apiVersion The version in which the fields are written.
 time When the manager last changed what it owns.
 fieldsType The format of the fields: FieldsV1.
 fieldsV1 The set of fields.
 subresource The subresource through which they were set; empty for the object itself.
FieldsV1 A set of fields: names, list items and keys as nested objects.
ListMeta What every list has.
 selfLink Not set any more.
 resourceVersion The version of the whole list; a watch can start from it.
 continue Given when there is more: a token for the next part.
 remainingItemCount How many objects come after this part, as far as is known.
List
 items The objects.
 metadata The version of the list and the way to its next part.
Condition A statement about the state of an object.
 observedGeneration The generation of the object that the statement is about.
LabelSelector Selects objects by their labels. Everything asked for must hold; an empty selector selects all objects.
 matchLabels Labels that must have exactly these values.
 matchExpressions Requirements on labels.
LabelSelectorRequirement A requirement on one label.
 key The name of the label.
 operator In, NotIn, Exists or DoesNotExist.
 values The values for In and NotIn; empty otherwise.
FieldSelectorRequirement A requirement on one field.
 key The field.
 operator In, NotIn, Exists or DoesNotExist.
 values The values for In and NotIn; empty otherwise.
Time A point in time as RFC 3339 has it, in whole seconds.
MicroTime A point in time as RFC 3339 has it, with microseconds.
Quantity An amount: a number with an optional unit, such as 500m, 1.5 or 2Gi.
IntOrString A number or a text, often a percentage or the name of a port.
RawExtension A document of any kind, kept as it is.
Patch Changes to an object, in the format that the content type names.
DeleteOptions How an object is to be deleted.
 gracePeriodSeconds Time to end in seconds; 0 deletes at once. Absent: as the kind has it.
 preconditions What must hold of the object for the deletion to happen.
 orphanDependents Deprecated; use propagationPolicy. Dependents stay, without this owner.
 propagationPolicy What becomes of dependents: Orphan, Background or Foreground.
 dryRun With the value All nothing is deleted.
 ignoreStoreReadErrorWithClusterBreakingPotential Deletes an object even if it cannot be read. Unsafe.
Preconditions What must hold of an object for an operation to happen.
 uid It must have this uid.
 resourceVersion It must have this version.
Status The outcome of a call that does not answer with an object.
 status Success or Failure.
 message What happened, for people.
 reason What happened, for programs; one word.
 details More about the reason.
 code The HTTP code of the answer.
 metadata The metadata of lists; usually empty.
StatusDetails More about the outcome of a call.
 name The name of the object that it is about.
 group The group of its kind.
 kind Its kind or resource.
 uid Its uid.
 causes The single problems that led to a failure.
 retryAfterSeconds When a repeated call may work.
StatusCause One problem of several.
 reason What kind of problem it is, for programs.
 message What the problem is, for people.
 field The field with the problem, as a path.
WatchEvent One change in a watch.
 type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
 object The object after the change, or a Status.
APIVersions The versions of the core group.
 versions The names of the versions.
 serverAddressByClientCIDRs Where clients find the server, by their own address.
APIGroup A group and its versions.
 name The name of the group.
 versions The versions in which it is served.
 preferredVersion The version that clients should choose.
 serverAddressByClientCIDRs Where clients find the server, by their own address.
APIGroupList All groups.
 groups The groups.
APIResourceList The resources of one group and version.
 groupVersion The group and version.
 resources The resources.
APIResource A resource: how it is addressed and what can be done with it.
 name The plural name, as it stands in paths.
 singularName The singular name.
 namespaced True if its objects live in namespaces.
 group The group of its kind, where that is another than the list's.
 version The version of its kind, where that is another than the list's.
 kind The kind of its objects.
 verbs What can be done with it.
 shortNames Names to type.
 categories Groups of resources that it belongs to, such as all.
 storageVersionHash Changes when objects are stored in another version.
GroupVersionForDiscovery A version of a group.
 groupVersion The group and version as objects name them.
 version The version alone.
ServerAddressByClientCIDR Where some clients find the server.
 clientCIDR The addresses of these clients.
 serverAddress The address of the server.
Info The version of the server.
 major,minor A part of the version number.
 gitVersion The whole version.
 gitCommit,gitTreeState The source that it was built from.
 buildDate,goVersion,compiler When and with what it was built.
 emulationMajor,emulationMinor A part of the version that it behaves as.
 minCompatibilityMajor,minCompatibilityMinor A part of the oldest version that it works with.
 platform The system that the server runs on.
*Condition
 type What the statement is about.
 status Whether it holds: True, False or Unknown.
 reason Why, in one word for programs.
 message Why, for people.
 lastTransitionTime When the status last changed.
 lastUpdateTime When the statement was last made.
 lastProbeTime When this was last looked at.
 lastHeartbeatTime When this was last confirmed.
 observedGeneration The generation of the object that the statement is about.
*
 apiVersion The group and version in which the object is written.
 kind The kind of the object.
 metadata The name, labels and history of the object.
 spec What is wanted.
 status What is the case, as those who look after the object report it.
 conditions Statements about the present state.
 observedGeneration The generation that the status is about.
`;
