// Package datafolder knows the places of files in a data folder, and locks the folder as a whole. Servers share it;
// a program that needs it for itself (fsck, inspect, a change of the number of sacks) holds it alone.
//
//	DATA/
//	  lock                     shared by servers, or held by one program (folder.go)
//	  cluster.json             cluster ID, number of sacks, format version; written once (cluster_file.go)
//	  reserve                  room that is freed when the disk is full (reserve_file.go)
//	  repartition.json         journal of a change of the number of sacks (repartition.go)
//	  key                      secret of the cluster's processes (package peer)
//	  members/, claims/        the processes, and the stores that each holds (package claim)
//	  stores/<name>/<format>   the stores that there are, and their formats (package claim, formats.go)
//	  index/e<epoch>/          storage/index; held by one process of role api
//	  incoming/<name>/e<epoch>/    storage/incoming; one a process of role api; a dead one's until drained
//	  sacks/<nnn>/e<epoch>/    storage/archive; spread over the processes of role metricd
//
// Offline programs use this package without a server: it does not import net/http.
//
// Start with folder.go.
package datafolder
