#if !Engines
enum PlainUsage {
    static let text = """
        backplane, built without engines: the package trait `Engines` adds what needs a package

        USAGE
          backplane run [MANIFEST] [--keep-going] [--json]    starts every manager, stays until SIGINT or SIGTERM
          backplane call [MANIFEST] MANAGER METHOD [JSON] [--timeout SECONDS] [--explain [--json]]
                                                              calls one method, prints its result, explains its wires
          backplane check [MANIFEST] [--json] [--strict] [--lock]
                                                              lists everything that is wrong; starts nothing; --lock
                                                              writes the chosen versions into the manifest
          backplane graph [MANIFEST] [--format mermaid|dot|json]
                                                              draws components, wires and their lanes
          backplane explain [MANIFEST] NAME [--json]          says why a manager is as it is, or cannot be created
          backplane services [MANIFEST] [--json]              lists what each plugin registers, and who uses it
          backplane names [MANIFEST] [--json]                 prints a constant for each manager, in Swift
          backplane convert [MANIFEST] [--to json|xml|binary] [--output FILE [--force]] [--upgrade]
                                                              spells a manifest in another format; --upgrade makes a plain
                                                              Nemo Logic one ours
          backplane inspect LIBRARY [--json] [--timeout SECONDS] [--load-folder FOLDER]
                                                              says what a library is and brings, and whether it loads
          backplane bench [SUITE] [--only TEXT] [--quick | --iterations COUNT] [--json]
                                                              measures what Backplane costs, in a release build

        Without MANIFEST it is the first of backplane.json, backplane.plist and NLManagerProvider.plist that is in the current
        folder. Of `call` and `explain` the first word is a manifest if it names a file that is there, has a slash in it, or
        ends in .json or .plist; otherwise it is the manager.

        OPTIONS OF ALL THAT TAKE A MANIFEST
          --environment NAME       the manifest's environment to use (default: $BACKPLANE_ENVIRONMENT, or none)
          --plugin-path FOLDER     a folder to look for libraries in; may be given again
          --load-folder FOLDER     where libraries are copied to before they are loaded
          --data FOLDER            where data access controllers keep their data
          --log-level LEVEL        trace, debug, info, notice, warning, error, critical (default: notice)

        EXAMPLES
          backplane check
          backplane check manifests/almanac.json
          backplane call manifests/almanac.json AlmanacManager on '"07-20"'
          backplane run manifests/almanac.json
          backplane run manifests/almanac.json --keep-going
          backplane graph manifests/bookshelf-both.json
          backplane graph manifests/bookshelf-both.json --format dot | dot -Tsvg > graph.svg
          backplane explain manifests/bookshelf-both.json LibraryManager
          backplane services manifests/bookshelf-both.json
          backplane names manifests/bookshelf.json > Managers.swift
          backplane convert manifests/almanac.plist --upgrade
          backplane inspect .build/debug/libClock.so
          backplane bench boundary --only actor
          backplane bench composition --quick
        """
}
#endif
