#if !Engines
import Glibc

@main
enum NoEngines {
    static func main() {
        let advice =
            "bookshelf-server: this build has no engines, but the server needs one; build it without --disable-default-traits\n"
        _ = write(STDERR_FILENO, advice, advice.utf8.count)
        exit(1)
    }
}
#endif
