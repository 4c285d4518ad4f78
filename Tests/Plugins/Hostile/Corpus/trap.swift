/// Ends the process, as a wrong index or a `!` of nil does.
@_cdecl("hostile_work") func work() {
    fatalError("this cannot happen")
}

#if RETROACTIVE
extension Int: @retroactive Error {}
#endif
