// Package repartition changes the number of sacks of a data folder that no server holds: which store a metric's archives lie in
// follows from it, so all archives are copied.
//
// The folder tells at any moment how far it is, and a run that was cut short is gone on with by the next:
//
//	DATA/repartition.json   journal: from how many sacks to how many, how many are copied, whether all is
//	DATA/sacks.new/         the new stores, while they are filled
//	DATA/sacks.old/         the old ones, once the new ones are in their place
//
//  1. Everything accepted is brought into the archives, by a server that is started and stopped (the caller's work), so that no
//     measure lies in an incoming store: these sort by sack as well.
//  2. Sack by sack, what it holds is copied into the new stores, and the journal says so once that is synced. A sack that was
//     copied half is copied again, over what is there already: the same bytes under the same keys.
//  3. The journal says "switching". Folders are exchanged, incoming stores and cluster.json told the new number: each step does nothing
//     where it has been done.
//  4. The journal goes, then the old stores.
//
// Until 4 no server starts on the folder.
package repartition
