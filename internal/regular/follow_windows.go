package regular

// NoFollow is a flag of Open: a link isn't followed, where the system can do that.
const NoFollow = 0
