/** What the types of this package are for; see `meta.ts` for the notation. */
export const resourceDescriptions = `
DeviceClass A class of devices: which ones, and how they are set up.
DeviceClassSpec The devices and their settings.
 selectors Every one of them must match a device.
 config Settings for drivers; they do not decide which device is taken.
DeviceClassConfiguration Settings for one driver.
DeviceSelector What a device must be like.
 cel An expression in CEL.
CELDeviceSelector An expression about a device.
 expression True for the devices that are meant; device has driver, attributes and capacity.
OpaqueDeviceConfiguration Settings that only a driver understands.
 driver The driver.
 parameters The settings; at most 10 Ki.
ResourceClaim Asks for devices.
ResourceClaimSpec What is asked for.
 devices The devices.
ResourceClaimStatus What was got.
 allocation The devices that were set aside.
 reservedFor Who may use them.
 devices The state of the devices, as drivers tell it.
ResourceClaimTemplate Claims that are made for pods.
ResourceClaimTemplateSpec A claim to be made.
 metadata Labels and annotations of the claim.
 spec What is asked for.
ResourceClaimConsumerReference Who uses a claim.
 apiGroup The group of the object.
 resource Its resource.
 uid Its uid.
DeviceClaim Devices that are asked for.
 requests The single requests.
 constraints What must hold of them together.
 config Settings for drivers.
DeviceRequest,ExactDeviceRequest,DeviceSubRequest A request for devices.
 exactly What is asked for.
 firstAvailable Several wishes; the first that can be met counts.
 selectors Every one of them must match a device.
 allocationMode ExactCount or All.
 count How many.
 adminAccess For administrators: the device may be in use.
 tolerations Taints of devices that are put up with.
DeviceConstraint What must hold of several devices together.
 requests The requests that it is about.
 matchAttribute An attribute that must be the same.
AllocationResult What was set aside.
 devices The devices.
 nodeSelector Nodes from which they can be used.
DeviceAllocationResult Devices that were set aside.
 results The devices, by request.
 config Settings for drivers.
DeviceRequestAllocationResult A device that was set aside.
 adminAccess It may be in use by others.
 tolerations Taints that are put up with.
DeviceAllocationConfiguration,DeviceClaimConfiguration Settings for one driver.
 source Where they come from: FromClass or FromClaim.
 requests The requests that they are for; empty is all.
AllocatedDeviceStatus The state of a device in use.
 data Whatever the driver says.
 networkData What is known of a network device.
NetworkDeviceData A network device.
 interfaceName The name of the interface.
 ips Its addresses.
 hardwareAddress Its hardware address.
ResourceSlice Devices that a driver has to offer.
ResourceSliceSpec The devices and where they are.
 devices The devices.
 perDeviceNodeSelection Every device says for itself where it is.
 sharedCounters What devices have in common and use up.
ResourcePool A pool of devices.
 generation Counts the changes of the pool.
 resourceSliceCount How many slices it has.
Device,BasicDevice A device.
 basic The properties of the device.
 attributes Its attributes.
 capacity Its capacities.
 consumesCounters What it uses up.
 taints What keeps claims away that do not tolerate it.
DeviceAttribute An attribute; one field is set.
 int A number.
 bool A truth value.
 string A text.
 version A version.
Counter,DeviceCapacity An amount.
CounterSet Things that devices use up.
 counters The counters, by name.
DeviceCounterConsumption What a device uses up.
 counterSet The set of counters.
 counters How much, by name.
DeviceTaint Keeps claims away that do not tolerate it.
 timeAdded When it was added.
DeviceTaintRule Adds a taint to devices.
DeviceTaintRuleSpec The taint and the devices.
 deviceSelector The devices.
 taint The taint.
DeviceTaintSelector Selects devices.
 selectors Every one of them must match a device.
DeviceToleration Taints of devices that are put up with.
 operator Equal or Exists.
 tolerationSeconds How long a NoExecute taint is put up with.
*
 name The name.
 opaque Settings that only the driver understands.
 deviceClassName The class of the devices.
 driver The driver.
 pool The pool.
 device The device.
 request The request.
 allNodes All nodes can use it.
 nodeName The one node that can use it.
 nodeSelector Nodes that can use it.
 value The value.
 key The key.
 effect NoSchedule or NoExecute.
`;
